/*
 * delegate OPTIONS COMMAND...: runs a command in a user namespace of its own, for which a BPF file system
 * is mounted with rights delegated to it, as the manager of a container would do. OPTIONS are those of
 * the mount, `delegate_cmds=any` for instance, separated by commas. The command finds the root of that
 * file system in the environment variable BPFFS, as /proc/self/fd/N.
 *
 * Who does what is the kernel's rule: the file system belongs to the user namespace of whoever opens it,
 * so the child does that; what is delegated only the privileged parent may say.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FSCONFIG_SET_STRING = 1, FSCONFIG_CMD_CREATE = 6 };

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "delegate: %s: %s\n", what, strerror(errno));
		exit(3);
	}
}

static void send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof fd)] = { 0 };
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	check(sendmsg(socket, &message, 0) == 1, "sendmsg");
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	int fd;

	check(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message), "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

static void child(int socket, char **command)
{
	char byte, path[40];
	int context, mount;

	check(!unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
	check(write(socket, "u", 1) == 1 && read(socket, &byte, 1) == 1, "ids");
	check(!setresgid(0, 0, 0) && !setresuid(0, 0, 0), "setresuid");
	context = syscall(SYS_fsopen, "bpf", 0);
	check(context >= 0, "fsopen");
	send_fd(socket, context);
	mount = receive_fd(socket);
	snprintf(path, sizeof path, "/proc/self/fd/%d", mount);
	setenv("BPFFS", path, 1);
	execvp(command[0], command);
	check(0, command[0]);
}

static void map_ids(pid_t child, const char *file)
{
	char path[40];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", child, file);
	fd = open(path, O_WRONLY);
	check(fd >= 0 && write(fd, "0 0 1", 5) == 5, path);
	close(fd);
}

int main(int argc, char **argv)
{
	int sockets[2], context, mount, status;
	char byte, *option;
	pid_t pid;

	if (argc < 3)
		return 2;
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
	pid = fork();
	check(pid >= 0, "fork");
	if (!pid) {
		close(sockets[0]);
		child(sockets[1], argv + 2);
	}
	close(sockets[1]);
	check(read(sockets[0], &byte, 1) == 1, "child");
	map_ids(pid, "uid_map");
	map_ids(pid, "gid_map");
	check(write(sockets[0], "m", 1) == 1, "child");
	context = receive_fd(sockets[0]);
	for (option = strtok(argv[1], ","); option; option = strtok(NULL, ",")) {
		char *value = strchr(option, '=');

		check(value != NULL, option);
		*value++ = 0;
		check(!syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, option, value, 0), option);
	}
	check(!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "fsconfig");
	mount = syscall(SYS_fsmount, context, 0, 0);
	check(mount >= 0, "fsmount");
	send_fd(sockets[0], mount);
	check(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
