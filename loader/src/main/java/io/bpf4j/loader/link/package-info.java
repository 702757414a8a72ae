/** Where programs attach, and the links that attaching gives. */
package io.bpf4j.loader.link;
