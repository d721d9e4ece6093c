import { useLayoutEffect, useRef } from "preact/hooks";
import type { ConversationView } from "#http/inbox/wire.ts";
import { Composer } from "#web/inbox/composer/composer.tsx";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { hashOf } from "#web/inbox/store/address.ts";
import { Countdown } from "#web/inbox/ui/clocks.tsx";
import { Empty, Icon, Skeleton } from "#web/shared/ui/elements.tsx";
import { openingShortcuts, ShortcutList } from "#web/inbox/ui/shortcuts.tsx";
import { takeDroppedFiles } from "#web/shared/dropped-files.ts";
import { Head } from "./head.tsx";
import { MessageLog } from "./message-log.tsx";

export function ThreadPane() {
  const { open, actions, sending, canWrite } = useInbox();
  const element = useRef<HTMLElement>(null);
  const conversation = open.conversation.value;
  useLayoutEffect(() => {
    // Dropped anywhere on the conversation: the browser would open the files in place of the inbox.
    if (element.current !== null && canWrite) takeDroppedFiles(element.current, element.current, sending.attach);
  }, []);
  return (
    <section
      class={actions.busy.value ? "thread-pane busy" : "thread-pane"}
      aria-label="Conversation"
      tabIndex={-1}
      ref={element}
    >
      {conversation === undefined ? (
        <div class="blank">
          <Blank />
        </div>
      ) : (
        <Conversation key={conversation.id} conversation={conversation} />
      )}
    </section>
  );
}

function Conversation({ conversation }: { readonly conversation: ConversationView }) {
  const { canWrite } = useInbox();
  return (
    <>
      <Head conversation={conversation} />
      <MessageLog conversation={conversation} />
      <p class="unreachable" role="status" hidden={conversation.unreachable === null}>
        {conversation.unreachable}
      </p>
      {canWrite && <ReplyWindow conversation={conversation} />}
      {canWrite && conversation.status !== "archived" && <Composer conversation={conversation} />}
      {!canWrite && (
        <p class="reply-window closed">
          <Icon name="lock" />
          <span>Your role is viewer: you can read conversations, and change nothing.</span>
        </p>
      )}
    </>
  );
}

/** How long the platform lets an agent write to the customer. */
function ReplyWindow({ conversation: { window, unreachable } }: { readonly conversation: ConversationView }) {
  const isOpen = window?.isOpen === true && window.closesAt !== null;
  return (
    <p
      class={window?.isOpen === false ? "reply-window closed" : "reply-window"}
      role="status"
      hidden={window === null || unreachable !== null}
    >
      {isOpen ? (
        <>
          Free replies: <Countdown until={window.closesAt} />
        </>
      ) : (
        window !== null && (
          <>
            <Icon name="alert" />
            <span>{window.closed}</span>
          </>
        )
      )}
    </p>
  );
}

/** Shown until there is a conversation. */
function Blank() {
  const { open, list } = useInbox();
  const isSelected = open.selected.value !== undefined;
  if (isSelected && open.failure.value !== undefined) {
    return (
      <Empty shape="alert" title="This conversation cannot be shown" isProblem>
        <p>{open.failure.value}</p>
        <a class="secondary" href={hashOf(list.view.value)}>
          Back to the list
        </a>
      </Empty>
    );
  }
  if (isSelected) return <Skeleton kind="skeleton wide" lines={3} />;
  const isListEmpty = list.load.value === "ready" && list.items.value.length === 0;
  return (
    <Empty shape="chat" title={isListEmpty ? "Nothing to open here" : "Choose a conversation"}>
      <p>
        {isListEmpty
          ? "New conversations appear in the list by themselves. Other views, such as All, may have more."
          : "Open a conversation from the list to read it, reply to the customer, or resolve it."}
      </p>
      <ShortcutList list={openingShortcuts} />
    </Empty>
  );
}
