/*
 * netkit add NAME PEER: makes a pair of netkit devices, as "ip link add NAME type netkit peer name PEER" of a newer
 * iproute2 does, brings both up and gives them an address each: 192.0.2.1 and 198.51.100.1, with a network of 256 each.
 * netkit delete NAME: takes both away.
 *
 * The message is one RTM_NEWLINK. What is special to a kind of device is nested in it, and the peer is a link of its own
 * in there (include/uapi/linux/if_link.h of Linux 6.7, which Debian 12's headers lack):
 *
 *   ifinfomsg, IFLA_IFNAME, IFLA_LINKINFO { IFLA_INFO_KIND, IFLA_INFO_DATA { IFLA_NETKIT_PEER_INFO { ifinfomsg, ... } } }
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NETKIT_PEER_INFO = 1 };

struct message {
	struct nlmsghdr header;
	struct ifinfomsg link;
	char attributes[512];
};

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "netkit: %s: %s\n", what, strerror(errno));
		exit(3);
	}
}

static struct rtattr *append(struct message *message, int type, const void *data, size_t size)
{
	struct rtattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->header.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attribute), data, size);
	message->header.nlmsg_len = NLMSG_ALIGN(message->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
	return attribute;
}

/* What was appended since is in this one. */
static void end(struct message *message, struct rtattr *nest)
{
	nest->rta_len = (char *)message + message->header.nlmsg_len - (char *)nest;
}

static void request(struct message *message)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[1024];
	} answer;
	int channel = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	check(channel >= 0, "socket");
	message->header.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	check(send(channel, message, message->header.nlmsg_len, 0) > 0, "send");
	check(recv(channel, &answer, sizeof answer, 0) > 0, "recv");
	errno = -answer.error.error;
	check(answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error == 0, "the kernel's answer");
	close(channel);
}

static void make(const char *name, const char *peer)
{
	struct message message = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
					     .nlmsg_type = RTM_NEWLINK,
					     .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL}};
	struct ifinfomsg of_peer = {0};
	struct rtattr *information, *data, *other;

	append(&message, IFLA_IFNAME, name, strlen(name) + 1);
	information = append(&message, IFLA_LINKINFO, NULL, 0);
	append(&message, IFLA_INFO_KIND, "netkit", strlen("netkit"));
	data = append(&message, IFLA_INFO_DATA, NULL, 0);
	other = append(&message, NETKIT_PEER_INFO, &of_peer, sizeof of_peer);
	append(&message, IFLA_IFNAME, peer, strlen(peer) + 1);
	end(&message, other);
	end(&message, data);
	end(&message, information);
	request(&message);
}

static void delete(const char *name)
{
	struct message message = {
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)), .nlmsg_type = RTM_DELLINK},
		.link = {.ifi_index = if_nametoindex(name)}};

	check(message.link.ifi_index != 0, name);
	request(&message);
}

static void set_address(int socket, const char *name, int command, const char *address)
{
	struct ifreq device = {0};
	struct sockaddr_in *place = (struct sockaddr_in *)&device.ifr_addr;

	strncpy(device.ifr_name, name, sizeof device.ifr_name - 1);
	place->sin_family = AF_INET;
	check(inet_pton(AF_INET, address, &place->sin_addr) == 1, address);
	check(ioctl(socket, command, &device) == 0, address);
}

static void bring_up(const char *name, const char *address)
{
	struct ifreq device = {0};
	int any = socket(AF_INET, SOCK_DGRAM, 0);

	check(any >= 0, "socket");
	set_address(any, name, SIOCSIFADDR, address);
	set_address(any, name, SIOCSIFNETMASK, "255.255.255.0");
	strncpy(device.ifr_name, name, sizeof device.ifr_name - 1);
	check(ioctl(any, SIOCGIFFLAGS, &device) == 0, name);
	device.ifr_flags |= IFF_UP;
	check(ioctl(any, SIOCSIFFLAGS, &device) == 0, name);
	close(any);
}

int main(int count, char **words)
{
	if (count == 4 && !strcmp(words[1], "add")) {
		make(words[2], words[3]);
		bring_up(words[2], "192.0.2.1");
		bring_up(words[3], "198.51.100.1");
	} else if (count == 3 && !strcmp(words[1], "delete")) {
		delete(words[2]);
	} else {
		fprintf(stderr, "netkit add NAME PEER | netkit delete NAME\n");
		return 2;
	}
	return 0;
}
