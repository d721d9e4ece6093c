import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The element that each open dialog was opened from. */
const openers = new WeakMap<Element, Element | null>();

/**
 * A modal dialog for as long as it is rendered. Escape and a click beside it close it, where `mayClose` allows it.
 * `closed`: remove it.
 */
export function Dialog(props: {
  readonly title: string;
  readonly closed: () => void;
  readonly mayClose?: () => boolean;
  readonly children: ComponentChildren;
}) {
  const { mayClose = () => true } = props;
  const element = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (element.current === null) return;
    // A dialog may follow another, as one that shows a new key does. The focus returns to where the first was opened.
    const before = document.querySelector("dialog[open]");
    opener.current = before === null ? document.activeElement : (openers.get(before) ?? null);
    openers.set(element.current, opener.current);
    element.current.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={props.title}
      onClose={() => {
        if (opener.current instanceof HTMLElement) opener.current.focus();
        props.closed();
      }}
      onCancel={(event) => {
        if (event.target === event.currentTarget && !mayClose()) event.preventDefault();
      }}
      // A click on the backdrop is a click on the dialog itself.
      onClick={({ target, currentTarget }) => target === currentTarget && mayClose() && currentTarget.close()}
    >
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** Closes the dialog of a button. The focus returns to where it was, so call it before anything else. */
export const closeDialog = ({ currentTarget }: { readonly currentTarget: Element }): void =>
  currentTarget.closest("dialog")?.close();
