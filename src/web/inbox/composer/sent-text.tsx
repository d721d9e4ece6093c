import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ReplyPreview } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { api } from "#web/inbox/store/api.ts";
import { tooLong } from "#web/inbox/ui/labels.ts";
import { Content } from "#web/shared/ui/content.tsx";

/** After the last key. */
const quietMs = 400;
/** Signs that can be formatting. A text without them arrives as it was typed. */
const signs = /[*_`#~<>[\]|\\&]|^\s*(?:[-+]|\d+[.)])\s/mu;

/** Shows the reply as the customer will get it, where that differs from what was typed. */
export function SentText({ conversationId }: { readonly conversationId: string }) {
  const { drafts } = useInbox();
  const shown = useSignal<ReplyPreview | undefined>(undefined);
  const text = drafts.read(conversationId).reply.trim();
  const mayDiffer = signs.test(text) && tooLong(text) === undefined;
  useEffect(() => {
    if (!mayDiffer) return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      api.preview(conversationId, text).then(
        (preview) => {
          if (isCurrent) shown.value = preview;
        },
        // The reply can be sent without it.
        () => undefined,
      );
    }, quietMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [conversationId, text, mayDiffer]);
  const { blocks = null, texts = null } = mayDiffer ? (shown.value ?? {}) : {};
  if (blocks === null && texts === null) return null;
  return (
    <section class="sent-text" aria-label="The customer gets">
      <h3>The customer gets</h3>
      {blocks === null ? (
        texts?.map((each, index) => (
          <p key={index} dir="auto">
            {each}
          </p>
        ))
      ) : (
        <Content of={blocks} kind="sent-content" />
      )}
    </section>
  );
}
