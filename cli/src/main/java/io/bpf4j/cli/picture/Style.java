package io.bpf4j.cli.picture;

/**
 * The style sheets of pages and pictures, light or dark as the reader's system prefers.
 *
 * <p>Tested by {@code CliPicturesTest}.
 */
final class Style {
    /** Colours, as variables. The contrast of text to its background is at least 7:1. */
    private static final String COLOURS = """
            :root { color-scheme: light dark; --back: #ffffff; --text: #1c2128; --faint: #4f5965; --line: #d4dae1;
              --bar: #2f6fb5; --h0: #f1f3f5; --h1: #dcd3ea; --h2: #c3a8d8; --h3: #b27bbd; --h4: #a8509a; --h5: #94296e;
              --h6: #7a1350; --h7: #570b38; --h8: #350520; }
            @media (prefers-color-scheme: dark) {
              :root { --back: #14171c; --text: #e6e9ed; --faint: #aab4bf; --line: #343b45; --bar: #5b9fe3;
                --h0: #1d2229; --h1: #33264a; --h2: #4f2a66; --h3: #73307a; --h4: #9c3a80; --h5: #c34e79; --h6: #e36c66;
                --h7: #f49a58; --h8: #fdd76a; }
            }
            """;

    private static final String SHAPES = """
            .bar { fill: var(--bar); }
            .h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
            .h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .h6 { fill: var(--h6); } .h7 { fill: var(--h7); }
            .h8 { fill: var(--h8); }
            .drawn text { fill: var(--text); font: 12px ui-monospace, Menlo, Consolas, monospace; }
            .drawn .label { fill: var(--faint); } .end { text-anchor: end; }
            .drawn .heading { font-size: 16px; font-weight: 600; }
            """;

    /** The style sheet of an SVG file. */
    static final String DRAWING = COLOURS + SHAPES + """
            svg { background: var(--back); }
            """;

    /** The style sheet of a page. */
    static final String PAGE = COLOURS + SHAPES + """
            body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 3rem; background: var(--back);
              color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
            h1 { margin: 0 0 .25rem; font-size: 1.45rem; line-height: 1.25; overflow-wrap: anywhere; }
            h2 { margin: 2.25rem 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
            h2, code, .key { font-family: ui-monospace, Menlo, Consolas, monospace; }
            p { margin: .25rem 0; } .facts, .sums { color: var(--faint); }
            .remark { border-left: 3px solid var(--bar); padding-left: .6rem; }
            code { font-size: .9rem; overflow-wrap: anywhere; }
            table { width: 100%; border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
            caption { text-align: left; color: var(--faint); padding: .25rem 0; }
            th, td { padding: .2rem .75rem .2rem 0; text-align: left; vertical-align: baseline;
              border-bottom: 1px solid var(--line); font-weight: normal; }
            thead th, thead td { color: var(--faint); border-bottom-width: 2px; }
            .number { text-align: right; white-space: nowrap; } .range { white-space: nowrap; }
            .key { overflow-wrap: anywhere; font-size: .9rem; }
            .bars { width: 45%; padding-right: 0; }
            .bars span { display: block; height: .85em; min-width: 1px; border-radius: 2px; background: var(--bar); }
            figure { margin: .75rem 0; overflow-x: auto; }
            figure svg { max-width: 100%; height: auto; }
            figcaption { color: var(--faint); }
            @media print { body { max-width: none; } tr, figure { break-inside: avoid; } .bars span {
              print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
            """;

    private Style() {}
}
