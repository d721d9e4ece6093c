import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { fitHeight } from "#web/shared/ui/fit-height.ts";
import { tooLong } from "#web/inbox/ui/labels.ts";
import type { Editing } from "./own-replies.ts";

/** Replaces a reply while it is edited. */
export function ReplyEditor({ editing }: { readonly editing: Editing }) {
  const { ownReplies } = useInbox();
  const field = useRef<HTMLTextAreaElement>(null);
  const [isSaving, setSaving] = useState(false);
  const { messageId, was, text } = editing;
  const problem = tooLong(text);
  const canSave = !isSaving && text.trim() !== "" && text.trim() !== was.trim() && problem === undefined;

  useLayoutEffect(() => {
    if (text !== was) return;
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
    field.current?.closest("form")?.scrollIntoView({ block: "nearest" });
  }, []);
  useLayoutEffect(() => fitHeight(field.current, 320), [text]);

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (!canSave) return;
    setSaving(true);
    if (await ownReplies.save(editing)) return;
    setSaving(false);
    field.current?.focus();
  }

  return (
    <article class="row agent first last editing">
      <form class="own-editor" onSubmit={(event) => void save(event)}>
        <p class="own-editor-head">Change your reply</p>
        <textarea
          ref={field}
          rows={2}
          dir="auto"
          aria-label="Your reply, as it is to be"
          value={text}
          onInput={({ currentTarget }) => (ownReplies.editing.value = { messageId, was, text: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save(event);
            else if (event.key === "Escape") {
              event.preventDefault();
              ownReplies.cancel(messageId);
            }
          }}
        />
        <div class="own-editor-foot">
          <span class={problem === undefined ? "composer-hint" : "composer-hint over"}>
            {problem ?? "The customer sees the change."}
          </span>
          <Button label="Cancel" kind="secondary" onClick={() => ownReplies.cancel(messageId)} />
          <Button label="Save" kind="primary" type="submit" disabled={!canSave} />
        </div>
      </form>
    </article>
  );
}
