import { batch, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { SavedReply } from "#http/inbox/wire.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import type { Names } from "#domain/conversation/reply-placeholders.ts";
import { fillIn } from "#domain/conversation/reply-placeholders.ts";
import { matching } from "./saved-reply-text.ts";

/** The id of the list, for the field that it belongs to. */
export const listId = "saved-replies";
export const optionId = (index: number): string => `saved-${index}`;

const shownMax = 8;
const previewCharsMax = 160;
const typed = /(?:^|\s)\/([^\s/{}]{0,40})$/u;

export type SavedReplies = ReturnType<typeof createSavedReplies>;

/** Saved replies that are offered while `/` and a part of a name is typed. `write`: the text of the field has changed. */
export function createSavedReplies(
  replies: () => readonly SavedReply[],
  names: () => Names,
  write: (text: string) => void,
) {
  /** All that match; empty: the list is closed. */
  const found = signal<readonly SavedReply[]>([]);
  const active = signal(0);
  /** The position of the slash whose list was closed with Escape. */
  let dismissedAt: number | undefined;

  const close = (): void => {
    if (found.value.length > 0) found.value = [];
  };

  /** Replaces a part of the text, as if it was typed. */
  function put(field: HTMLTextAreaElement, text: string, from: number): void {
    field.setRangeText(text, from, field.selectionEnd, "end");
    write(field.value);
  }

  function look(field: HTMLTextAreaElement): void {
    const slash = document.activeElement === field ? slashBefore(field) : undefined;
    if (slash?.at !== dismissedAt) dismissedAt = undefined;
    const isOffered = slash !== undefined && dismissedAt === undefined;
    batch(() => {
      found.value = isOffered ? matching(replies(), slash.query) : [];
      active.value = 0;
    });
  }

  function choose(field: HTMLTextAreaElement, reply: SavedReply): void {
    const slash = slashBefore(field);
    if (slash !== undefined) put(field, fillIn(reply.text, names()), slash.at);
    close();
    // The end of the inserted text does not ask for another one.
    dismissedAt = slashBefore(field)?.at;
  }

  return {
    found,
    active,
    close,
    look,
    choose,
    preview: (reply: SavedReply): string =>
      fillIn(reply.text, names()).replaceAll(/\s+/gu, " ").slice(0, previewCharsMax),
    /** Opens the list without the keyboard, or closes it. */
    toggle(field: HTMLTextAreaElement): void {
      field.focus();
      if (found.value.length > 0) return close();
      const before = field.value.slice(0, field.selectionStart);
      dismissedAt = undefined;
      put(field, /(?:^|\s)$/u.test(before) ? "/" : " /", field.selectionStart);
      look(field);
    },
    /** Returns whether the key was meant for the list. */
    keyDown(event: KeyboardEvent, field: HTMLTextAreaElement): boolean {
      const shown = found.value.slice(0, shownMax);
      const reply = shown[active.value];
      if (reply === undefined || event.isComposing) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) active.value = (active.value + step + shown.length) % shown.length;
      else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) {
        // Also with Ctrl, which sends otherwise: an agent does not mean to send a slash and half a name.
        choose(field, reply);
      } else if (event.key === "Escape") {
        dismissedAt = slashBefore(field)?.at;
        close();
      } else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
  };
}

/** The slash before the caret, and the text between. */
function slashBefore(field: HTMLTextAreaElement): { readonly query: string; readonly at: number } | undefined {
  if (field.selectionStart !== field.selectionEnd) return undefined;
  const query = typed.exec(field.value.slice(0, field.selectionStart))?.[1];
  return query === undefined ? undefined : { query, at: field.selectionStart - query.length - 1 };
}

interface SavedReplyProps {
  readonly saved: SavedReplies;
  readonly field: { readonly current: HTMLTextAreaElement | null };
}

export const SavedReplyOpener = ({ saved, field }: SavedReplyProps) => (
  <Button
    label="Saved replies"
    kind="icon saved-opener"
    shape="slash"
    title="Saved replies (/)"
    onMouseDown={keepCaret}
    onClick={() => field.current !== null && saved.toggle(field.current)}
  />
);

const keepCaret = (event: Event): void => event.preventDefault();

/** The list above the field. */
export function SavedReplyList({ saved, field }: SavedReplyProps) {
  const list = useRef<HTMLUListElement>(null);
  const found = saved.found.value;
  const active = saved.active.value;
  useLayoutEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [found, active]);
  return (
    <div class="saved-place">
      <ul class="saved" role="listbox" id={listId} aria-label="Saved replies" hidden={found.length === 0} ref={list}>
        {found.slice(0, shownMax).map((reply, index) => (
          <li
            key={reply.name}
            role="option"
            id={optionId(index)}
            aria-selected={index === active}
            onMouseDown={keepCaret}
            onClick={() => field.current !== null && saved.choose(field.current, reply)}
          >
            <span class="saved-name">/{reply.name}</span>
            <span class="saved-text" dir="auto">
              {saved.preview(reply)}
            </span>
          </li>
        ))}
      </ul>
      <span class="unseen" role="status">
        {countText(found.length)}
      </span>
    </div>
  );
}

function countText(count: number): string {
  if (count === 0) return "";
  const text = count === 1 ? "1 saved reply" : `${count} saved replies`;
  return count > shownMax ? `${text}, the first ${shownMax} are listed` : text;
}
