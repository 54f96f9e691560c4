import type { ComponentChildren } from "preact";

/** What may be wider than its place, and is then moved by itself: by the keyboard too, which Safari needs to be told. */

const BY_KEYBOARD = { tabIndex: 0 };

export function Wide({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section class="scroll" aria-label={name} {...BY_KEYBOARD}>
      {children}
    </section>
  );
}
