/** Carries out a plan, or undoes all of it. */
package io.bpf4j.usdt.internal.attach;
