/*
 * Many processes with a USDT probe; see `processes`. Makes argv[1] processes, says so, and ends them when its input ends.
 * Each fires the probe once for each byte that comes, and waits otherwise.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

static void tick(int signal)
{
	(void)signal;
	DTRACE_PROBE(many, tick);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	pid_t *pids = calloc(count + 1, sizeof(*pids));
	char byte;

	if (!pids)
		return 1;
	signal(SIGUSR1, tick);
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			perror("fork");
			return 1;
		}
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) == 1)
		for (int i = 0; i < count; i++)
			kill(pids[i], SIGUSR1);
	for (int i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
