import type { ListItem } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { hashOf } from "#web/inbox/store/address.ts";
import { Avatar } from "#web/shared/ui/elements.tsx";
import { channelLabel } from "#web/inbox/ui/channel-labels.ts";
import { Ago } from "#web/shared/ui/clocks.tsx";
import { SlaBadge } from "#web/inbox/ui/clocks.tsx";
import { snoozeText, statusNames } from "#web/inbox/ui/labels.ts";

interface ItemProps {
  readonly item: ListItem;
  readonly isSelected: boolean;
  readonly isChosen: boolean;
  readonly hasDraft: boolean;
}

const previewAuthors = { user: "", assistant: "Assistant: ", agent: "Agent: " } as const;

/** A row of the list. It reads a signal, so it is rendered only when that or a property has changed. */
export function Item({ item, isSelected, isChosen, hasDraft }: ItemProps) {
  const { list, selection, canWrite } = useInbox();
  const { id, customer, status, preview, lastMessageAt } = item;
  const isLive = isActive(item);
  const isWaiting = status === "escalated" || (isLive && item.lastRole === "user");
  const author = preview === null ? "" : previewAuthors[preview.role];
  return (
    <li data-id={id}>
      {canWrite && (
        <input
          type="checkbox"
          class="pick"
          aria-label={`Choose ${customer}`}
          checked={isChosen}
          onClick={({ currentTarget, shiftKey }) => {
            selection.toggle(id, { through: shiftKey });
            // The limit may have kept it from being chosen.
            currentTarget.checked = selection.ids.value.has(id);
          }}
        />
      )}
      <a
        href={hashOf(list.view.value, id)}
        class={isWaiting ? "item waiting" : "item"}
        aria-current={isSelected ? "true" : undefined}
      >
        <Avatar name={customer} />
        <span class="item-text">
          <span class="item-top">
            <span class="customer" dir="auto">
              {customer}
            </span>
            <time dateTime={new Date(lastMessageAt).toISOString()}>
              <Ago at={lastMessageAt} />
            </time>
          </span>
          <span class="preview" dir="auto">
            {author !== "" && <span class="preview-who">{author}</span>}
            {preview === null ? "No messages" : preview.text === "" ? "(no text)" : preview.text}
          </span>
          <Marks item={item} isLive={isLive} hasDraft={hasDraft} />
        </span>
        {isWaiting && <span class="unseen">, the customer waits for a reply</span>}
      </a>
    </li>
  );
}

const isActive = ({ status }: ListItem): boolean => status === "open" || status === "escalated" || status === "claimed";

function Marks(props: { readonly item: ListItem; readonly isLive: boolean; readonly hasDraft: boolean }) {
  const { list } = useInbox();
  const { item, isLive, hasDraft } = props;
  const { status, snoozedUntil, priority, sla, assignee, channel, lastRole } = item;
  return (
    <span class="marks">
      <span class={`status ${status}`} title={status === "snoozed" ? snoozeText(snoozedUntil) : undefined}>
        {statusNames[status]}
      </span>
      {(priority === "urgent" || priority === "high") && (
        <span class={`priority ${priority}`}>{priority === "urgent" ? "Urgent" : "High"}</span>
      )}
      {sla.runningSince !== null && <SlaBadge sla={sla} />}
      {hasDraft && <span class="draft-mark">Draft</span>}
      {isLive && lastRole === "agent" && <span class="replied">Replied</span>}
      {assignee !== null && list.view.value !== "mine" && <span class="assignee">{assignee.name}</span>}
      <span class="channel">{channelLabel(channel)}</span>
    </span>
  );
}
