import { useLayoutEffect } from "preact/hooks";
import { waitingOrders } from "#http/inbox/wire.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Avatar, Button, Empty, Icon, Skeleton } from "#web/shared/ui/elements.tsx";
import { emptyViews, orderNames, viewIcons } from "#web/inbox/ui/labels.ts";
import { Menu } from "#web/shared/ui/menu.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { Item } from "./item.tsx";
import { keepRowFocus } from "./focus.ts";
import { Views } from "./views.tsx";

export function ListPane() {
  const { selection, isConnected, hasManual, dialog, canWrite } = useInbox();
  return (
    <section class={selection.isOpen.value ? "list-pane picking" : "list-pane"} aria-label="Conversations">
      <Brand />
      <Views />
      <div class="list-tools">
        <Search />
        {canWrite && (
          <Button
            label="Choose several"
            kind="icon bulk-opener"
            shape="checks"
            shortcut="x"
            aria-pressed={selection.isOpen.value}
            onClick={selection.toggleBar}
          />
        )}
      </div>
      <BulkBar />
      <Sorting />
      <p class="connection" role="status">
        {isConnected.value ? "" : "Not connected. Trying again…"}
      </p>
      <div class="list-scroll">
        <Conversations />
        <div class="list-foot">
          <Foot />
        </div>
        {hasManual.value && (
          <Button
            label="Remove the built-in manual"
            kind="secondary remove-manual"
            onClick={() => (dialog.value = { kind: "remove-manual" })}
          />
        )}
      </div>
    </section>
  );
}

function Brand() {
  const { me, notifier, dialog } = useInbox();
  const isOn = notifier.isOn.value;
  return (
    <header class="brand">
      <span class="mark" aria-hidden="true" />
      <p class="workspace" title={me.workspace.name}>
        {me.workspace.name}
      </p>
      {notifier.isOffered.value && (
        <Button
          label="Notifications"
          kind="icon bell"
          shape="bell"
          aria-pressed={isOn}
          title={`Notifications are ${isOn ? "on" : "off"}`}
          onClick={() => void notifier.toggle()}
        />
      )}
      {me.agent.role !== "agent" && (
        <a class="icon" href="/dashboard" aria-label="Dashboard" title="Dashboard">
          <Icon name="settings" />
        </a>
      )}
      <Button
        label="Keyboard shortcuts"
        kind="icon"
        shape="keys"
        shortcut="?"
        onClick={() => (dialog.value = { kind: "shortcuts" })}
      />
      <a class="own-account" href="/dashboard/account" title={`${me.agent.name} · ${me.agent.email}`}>
        <Avatar name={me.agent.name} />
        <span class="unseen">Your account</span>
      </a>
      <form method="post" action="/inbox/logout">
        <Button label="Sign out" kind="icon" shape="leave" type="submit" />
      </form>
    </header>
  );
}

function Search() {
  const { search } = useInbox().listSync;
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        id="search"
        placeholder="Messages or e-mail address"
        aria-label="Search messages, or a customer's e-mail address, in this view"
        aria-keyshortcuts="/"
        autocomplete="off"
        maxLength={200}
        onInput={({ currentTarget }) => search(currentTarget.value.trim())}
        onKeyDown={({ key, currentTarget }) => {
          if (key !== "Escape") return;
          // Browsers empty the field without an event when it loses the focus: the list would stay filtered.
          currentTarget.value = "";
          search("");
        }}
      />
    </div>
  );
}

/** The order of the views of waiting conversations. */
function Sorting() {
  const { list, listSync } = useInbox();
  const view = list.view.value;
  const name = orderNames[list.order.value];
  return (
    <Menu
      label={orderNames.urgency}
      text={name}
      name={`Sorted by: ${name}`}
      shape="sort"
      kind="plain sorting"
      hidden={list.query.value !== "" || (view !== "unassigned" && view !== "escalated")}
      choices={() =>
        waitingOrders.map((order) => ({
          label: orderNames[order],
          current: order === list.order.value,
          choose: () => listSync.orderBy(order),
        }))
      }
    />
  );
}

function Conversations() {
  const { list, open, drafts, selection } = useInbox();
  const items = list.items.value;
  const selected = open.selected.value;
  const withDraft = drafts.ids.value;
  const chosen = selection.ids.value;
  const restoreFocus = keepRowFocus();
  useLayoutEffect(restoreFocus);
  return (
    <ul class="conversations" aria-label="Conversations" hidden={items.length === 0}>
      {items.map((item) => (
        <Item
          key={item.id}
          item={item}
          isSelected={item.id === selected}
          isChosen={chosen.has(item.id)}
          hasDraft={withDraft.has(item.id)}
        />
      ))}
    </ul>
  );
}

/** Below the list, or in its place. */
function Foot() {
  const { list, listSync } = useInbox();
  const query = list.query.value;
  if (list.load.value === "failed") {
    return (
      <Empty title="The list could not be loaded" isProblem>
        <Button label="Try again" kind="secondary" onClick={() => void listSync.more()} />
      </Empty>
    );
  }
  if (list.load.value === "loading") return <Skeleton lines={4} />;
  if (list.items.value.length === 0) {
    const view = list.view.value;
    const [title, text] =
      query === "" ? emptyViews[view] : ["Nothing found", `No conversation in this view has every word of “${query}”.`];
    return (
      <Empty shape={query === "" ? viewIcons[view] : "search"} title={title}>
        <p>{text}</p>
      </Empty>
    );
  }
  if (list.nextCursor.value === null) return null;
  return <Button label="Show more" kind="secondary" onClick={() => void listSync.more()} />;
}
