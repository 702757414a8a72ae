// SPDX-License-Identifier: Apache-2.0
/* The sites of a program that is made of sites.S. */
#ifndef BPF4J_SITES_H
#define BPF4J_SITES_H

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "harness.h"

/* Where the sites are in the file; their number goes to *count. The caller frees the list. */
static inline unsigned long *site_offsets(const char *path, size_t *count)
{
	unsigned long *offsets = NULL;
	Elf_Scn *section = NULL;
	size_t names, segments;
	GElf_Phdr segment;
	GElf_Shdr header;
	Elf *elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*count = 0;
	if (fd < 0)
		die("open %s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getshdrstrndx(elf, &names) || elf_getphdrnum(elf, &segments))
		die("%s: %s", path, elf_errmsg(-1));
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header)) {
		Elf_Data *data;
		GElf_Nhdr note;
		size_t name, description, next = 0;

		if (strcmp(elf_strptr(elf, names, header.sh_name), ".note.stapsdt"))
			continue;
		data = elf_getdata(section, NULL);
		while ((next = gelf_getnote(data, next, &note, &name, &description)) > 0) {
			unsigned long address;

			memcpy(&address, (char *)data->d_buf + description, sizeof(address));
			for (size_t i = 0; i < segments && gelf_getphdr(elf, i, &segment); i++) {
				if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
				    address >= segment.p_vaddr + segment.p_filesz)
					continue;
				offsets = realloc(offsets, (*count + 1) * sizeof(*offsets));
				offsets[(*count)++] = address - segment.p_vaddr + segment.p_offset;
				break;
			}
		}
	}
	/* Closed before anything is measured: a mapping of the target makes every attach slower. */
	elf_end(elf);
	close(fd);
	if (!*count) {
		errno = ENOENT;
		die("sites in %s", path);
	}
	return offsets;
}

#endif
