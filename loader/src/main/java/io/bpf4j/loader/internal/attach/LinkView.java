package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkInfo;
import io.bpf4j.loader.internal.sys.LinkInfo.TextField;
import io.bpf4j.loader.link.LinkDetail;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How links of one of the kernel's types are described by it, and what they can do. <i>Immutable.</i>
 *
 * @param type the kernel's number ({@code enum bpf_link_type} of include/uapi/linux/bpf.h)
 * @param text which text such a link has, by what is known of it without; null for none
 * @param detail reads what the type adds
 * @param opener gives a link that is there already as what it is
 */
record LinkView(
        int type, Function<LinkInfo, @Nullable TextField> text, Function<LinkInfo, LinkDetail> detail, Opener opener) {
    /** Takes ownership of the descriptor. */
    interface Opener {
        KernelLink open(Kernel kernel, String description, Fd link);
    }

    static LinkView of(int type, Function<LinkInfo, LinkDetail> detail) {
        return new LinkView(type, _ -> null, detail, KernelLink::new);
    }

    LinkView withText(Function<LinkInfo, @Nullable TextField> newText) {
        return new LinkView(type, newText, detail, opener);
    }

    LinkView withOpener(Opener newOpener) {
        return new LinkView(type, text, detail, newOpener);
    }
}
