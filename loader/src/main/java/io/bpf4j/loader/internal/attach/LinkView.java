package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RawLinkInfo.TextField;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The description and the operations of links of one kernel type. <i>Immutable.</i>
 *
 * @param type the kernel's number ({@code enum bpf_link_type} of include/uapi/linux/bpf.h)
 * @param text the text that such a link has, chosen by its other fields; null for none
 * @param detail reads the fields specific to the type
 * @param sites the fields with the sites of such a link; null for none
 * @param opener opens an existing link as its own Java type
 */
record LinkView(
        int type,
        Function<RawLinkInfo, @Nullable TextField> text,
        Function<RawLinkInfo, LinkDetail> detail,
        RawLinkInfo.@Nullable SiteFields sites,
        Opener opener) {
    /** Takes ownership of the descriptor. */
    interface Opener {
        KernelLink open(Kernel kernel, String description, Fd link);
    }

    static LinkView of(int type, Function<RawLinkInfo, LinkDetail> detail) {
        return new LinkView(type, _ -> null, detail, null, KernelLink::new);
    }

    LinkView withText(Function<RawLinkInfo, @Nullable TextField> newText) {
        return new LinkView(type, newText, detail, sites, opener);
    }

    LinkView withSites(RawLinkInfo.SiteFields newSites) {
        return new LinkView(type, text, detail, newSites, opener);
    }

    LinkView withOpener(Opener newOpener) {
        return new LinkView(type, text, detail, sites, newOpener);
    }
}
