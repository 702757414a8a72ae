/*
 * Loads an object by libbpf and pins its programs: loadall OBJECT DIRECTORY [PROGRAM...]
 *
 * Programs that the object marks as optional (SEC("?...")) are loaded if they are named. What libbpf says goes to
 * standard error; the exit code is 0 if the object loads, 2 if it can't be opened, 3 if it can't be loaded and 4 if a
 * program can't be pinned.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/stat.h>

int main(int count, char **arguments)
{
	struct bpf_object *object;
	struct bpf_program *program;
	char path[4096];

	if (count < 3) {
		fprintf(stderr, "loadall OBJECT DIRECTORY [PROGRAM...]\n");
		return 1;
	}
	object = bpf_object__open_file(arguments[1], NULL);
	if (!object)
		return 2;
	for (int i = 3; i < count; i++) {
		program = bpf_object__find_program_by_name(object, arguments[i]);
		if (!program || bpf_program__set_autoload(program, true))
			return 2;
	}
	if (bpf_object__load(object))
		return 3;
	mkdir(arguments[2], 0700);
	bpf_object__for_each_program(program, object) {
		snprintf(path, sizeof(path), "%s/%s", arguments[2], bpf_program__name(program));
		if (bpf_program__fd(program) >= 0 && bpf_program__pin(program, path))
			return 4;
	}
	bpf_object__close(object);
	return 0;
}
