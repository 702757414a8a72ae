/*
 * Sends bytes to itself over a TCP connection with a congestion control of choice:
 *
 *   congestion NAME [BYTES]
 *
 * Prints the congestion control that the connection has, or what failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(self);
	long left = argc > 2 ? atol(argv[2]) : 1 << 20;
	static char bytes[1 << 14];
	char name[16] = "";
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	int sender = socket(AF_INET, SOCK_STREAM, 0);
	int receiver;

	if (argc < 2)
		return 2;
	if (setsockopt(sender, IPPROTO_TCP, TCP_CONGESTION, argv[1], strlen(argv[1])))
		return fail("TCP_CONGESTION");
	if (bind(listening, (struct sockaddr *)&self, sizeof(self)) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&self, &length))
		return fail("listen");
	if (connect(sender, (struct sockaddr *)&self, sizeof(self)))
		return fail("connect");
	receiver = accept(listening, NULL, NULL);
	if (receiver < 0)
		return fail("accept");
	while (left > 0) {
		long sent = write(sender, bytes, sizeof(bytes));

		if (sent <= 0)
			return fail("write");
		for (long got = 0; got < sent;) {
			long more = read(receiver, bytes, sent - got);

			if (more <= 0)
				return fail("read");
			got += more;
		}
		left -= sent;
	}
	length = sizeof(name);
	if (getsockopt(sender, IPPROTO_TCP, TCP_CONGESTION, name, &length))
		return fail("TCP_CONGESTION");
	puts(name);
	return 0;
}
