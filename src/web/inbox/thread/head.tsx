import type { ConversationView } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { hashOf } from "#web/inbox/store/address.ts";
import type { Action } from "#web/inbox/store/api.ts";
import { channelLabel } from "#web/inbox/ui/channel-labels.ts";
import { SlaBadge } from "#web/inbox/ui/clocks.tsx";
import { Avatar, Button } from "#web/shared/ui/elements.tsx";
import { statusText } from "#web/inbox/ui/labels.ts";
import { Menu } from "#web/shared/ui/menu.tsx";
import { serverNow } from "#web/shared/ui/time.ts";
import { tomorrowAtNine } from "#web/inbox/ui/time-left.ts";

interface HeadProps {
  readonly conversation: ConversationView;
}

/** In a shorter conversation everything is reached by scrolling. */
const longFrom = 30;

export function Head({ conversation }: HeadProps) {
  const { list, open, isShowingDetails } = useInbox();
  const { hasEarlier, hasLater, messages } = open.shown.value;
  const goBack = (): void => void (location.hash = hashOf(list.view.value));
  const toggleDetails = (): void => void (isShowingDetails.value = !isShowingDetails.value);
  return (
    <header class="thread-head">
      <Button label="Back to the list" kind="icon back" shape="back" onClick={goBack} />
      <Title conversation={conversation} />
      <div class="actions">
        <Actions conversation={conversation} />
      </div>
      <GoTo hidden={!hasEarlier && !hasLater && messages.length <= longFrom} />
      <Button label="Details" kind="icon details-button" shape="panel" onClick={toggleDetails} />
    </header>
  );
}

const Title = ({ conversation: { customer, status, assignee, channel, sla, snoozedUntil } }: HeadProps) => (
  <div class="thread-title">
    <div class="thread-name">
      <Avatar name={customer.label} />
      <div>
        <h2 dir="auto" tabIndex={-1} id="thread-title" title={customer.label}>
          {customer.label}
        </h2>
        <p class="marks">
          <span class={`status ${status}`}>{statusText(status, snoozedUntil)}</span>
          {assignee !== null && status === "claimed" && <span class="assignee">{assignee.name}</span>}
          {sla.runningSince !== null && <SlaBadge sla={sla} prefix="SLA " />}
          <span class="channel">{channelLabel(channel)}</span>
        </p>
      </div>
    </div>
  </div>
);

/** The actions that the status allows. A key keeps a button, and its focus, in the next status. */
function Actions({ conversation: { status, assignee } }: HeadProps) {
  const { actions, dialog, me, canWrite } = useInbox();
  const button = (label: string, action: Action, kind: string, shortcut?: string) => {
    const look = { kind, ...(shortcut === undefined ? {} : { shortcut }) };
    return <Button key={action} label={label} {...look} onClick={() => void actions.act(action)} />;
  };
  const resolve = (kind: string) => (
    <Button
      key="resolve"
      label="Resolve"
      kind={kind}
      shape="check"
      shortcut="e"
      onClick={() => void actions.act("resolve")}
    />
  );
  const takeOver = (): void => void (dialog.value = { kind: "take-over", name: assignee?.name ?? "somebody" });
  if (!canWrite) return null;
  switch (status) {
    case "open":
    case "escalated":
      return [button("Claim", "claim", "primary", "c"), <Snooze key="snooze" />, resolve("secondary")];
    case "claimed":
      return assignee?.email === me.agent.email
        ? [resolve("primary"), <Snooze key="snooze" />, button("Release", "release", "secondary")]
        : [
            <Button key="take-over" label="Take over" kind="secondary" onClick={takeOver} />,
            <Snooze key="snooze" />,
            resolve("secondary"),
          ];
    case "snoozed":
      return [button("Wake", "reopen", "primary"), resolve("secondary")];
    case "resolved":
      return [button("Reopen", "reopen", "primary"), button("Archive", "archive", "secondary")];
    case "archived":
      return [button("Reopen", "reopen", "primary")];
  }
}

function Snooze() {
  const { act } = useInbox().actions;
  const choices = () => [
    { label: "For an hour", choose: () => void act("snooze", { until: serverNow() + 3_600_000 }) },
    { label: "Until tomorrow, 9:00", choose: () => void act("snooze", { until: tomorrowAtNine() }) },
    { label: "Until the customer replies", choose: () => void act("snooze") },
  ];
  return <Menu label="Snooze" shape="clock" shortcut="s" choices={choices} />;
}

function GoTo({ hidden }: { readonly hidden: boolean }) {
  const { conversationSync, dialog } = useInbox();
  const choices = () => [
    { label: "First message", choose: () => void conversationSync.jump("first") },
    { label: "A date…", choose: () => (dialog.value = { kind: "date" }) },
    { label: "Latest message", choose: () => void conversationSync.jump("end") },
  ];
  return <Menu label="Go to" shape="calendar" shortcut="g" kind="icon" hidden={hidden} choices={choices} />;
}
