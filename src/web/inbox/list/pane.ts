import { channelNames } from "#domain/conversation/message.ts";
import type { ListItem, View } from "#http/inbox/wire.ts";
import { views, waitingOrders } from "#http/inbox/wire.ts";
import { createBulk } from "./bulk.ts";
import type { InboxStore, InboxListener } from "#web/inbox/store/state.ts";
import { hashOf } from "#web/inbox/store/state.ts";
import { avatar, button, createKept, el, icon, place } from "#web/inbox/ui/dom.ts";
import type { Drafts } from "#web/inbox/store/drafts.ts";
import { createMenu } from "#web/inbox/ui/menu.ts";
import { ago, slaBadge } from "#web/inbox/ui/time.ts";
import { emptyViews, orderNames, snoozeText, statusNames, viewIcons, viewNames } from "#web/inbox/ui/labels.ts";

export interface ListPane {
  readonly element: HTMLElement;
  render(): void;
  focusSearch(): void;
  /** Chooses the conversation that has the focus or is open, to change several at once. */
  pick(): void;
  /** False: nobody was choosing. */
  stopPicking(): boolean;
  /** The conversation after (1) or before (-1) the one that has the focus or is open gets the focus. */
  step(by: 1 | -1): void;
}

export function createListPane(
  store: InboxStore,
  drafts: Drafts,
  listener: Pick<InboxListener, "changed" | "notice">,
  {
    openHelp,
    bell,
    manual,
  }: {
    readonly openHelp: () => void;
    readonly bell: HTMLElement | undefined;
    /** Removes the built-in manual, where there is one. */
    readonly manual: HTMLElement | undefined;
  },
): ListPane {
  const { me } = store.state();
  const nav = el("nav", { class: "views", "aria-label": "Views" });
  const search = el("input", {
    type: "search",
    id: "search",
    placeholder: "Messages or e-mail address",
    "aria-label": "Search messages, or a customer's e-mail address, in this view",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    maxlength: "200",
  });
  search.addEventListener("input", () => store.search(search.value.trim()));
  search.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    // Browsers empty the field without a word when it loses the focus at the same time: the list would stay filtered.
    search.value = "";
    store.search("");
  });
  const bulk = createBulk(store, listener, () => step(1));
  const sorting = createMenu(orderNames.urgency, { shape: "sort", kind: "plain sorting" }, () =>
    waitingOrders.map((order) => ({
      label: orderNames[order],
      current: order === store.state().order,
      choose: () => store.orderBy(order),
    })),
  );
  const list = el("ul", { class: "conversations", "aria-label": "Conversations" });
  const foot = el("div", { class: "list-foot" });
  const scroller = el("div", { class: "list-scroll" }, list, foot, manual);
  const connection = el("p", { class: "connection", role: "status" });
  const signOut = el("form", { method: "post", action: "/inbox/logout" });
  signOut.append(
    el("button", { class: "icon", type: "submit", "aria-label": "Sign out", title: "Sign out" }, icon("leave")),
  );
  const element = el(
    "section",
    { class: "list-pane", "aria-label": "Conversations" },
    el(
      "header",
      { class: "brand" },
      el("span", { class: "mark", "aria-hidden": "true" }),
      el("p", { class: "workspace", title: me.workspace.name }, me.workspace.name),
      bell,
      button("Keyboard shortcuts", openHelp, { kind: "icon", shape: "keys", iconOnly: true, key: "?" }),
      el("span", { title: `${me.agent.name} · ${me.agent.email}` }, avatar(me.agent.name)),
      signOut,
    ),
    nav,
    el("div", { class: "list-tools" }, el("div", { class: "search" }, icon("search"), search), bulk.opener),
    bulk.element,
    sorting.element,
    connection,
    scroller,
  );
  const kept = createKept();

  const viewLink = (view: View, count: number | undefined, current: boolean): HTMLElement =>
    el(
      "a",
      { href: hashOf(view), "aria-current": current ? "page" : undefined, "data-view": view },
      icon(viewIcons[view]),
      el("span", { class: "view-name" }, viewNames[view]),
      count !== undefined &&
        count > 0 &&
        el(
          "span",
          {
            class: "count",
            "aria-label": `${count >= 100 ? "100 or more" : count} ${count === 1 ? "conversation" : "conversations"}`,
          },
          count >= 100 ? "99+" : String(count),
        ),
    );

  const entry = (item: ListItem, view: View, selected: boolean, draft: boolean): HTMLElement => {
    const live = item.status === "open" || item.status === "escalated" || item.status === "claimed";
    const waiting = item.status === "escalated" || (live && item.lastRole === "user");
    const who =
      item.preview === null
        ? ""
        : item.preview.role === "user"
          ? ""
          : item.preview.role === "assistant"
            ? "Assistant: "
            : "Agent: ";
    const link = el(
      "a",
      {
        href: hashOf(view, item.id),
        class: waiting ? "item waiting" : "item",
        "aria-current": selected ? "true" : undefined,
      },
      avatar(item.customer),
      el(
        "span",
        { class: "item-text" },
        el(
          "span",
          { class: "item-top" },
          el("span", { class: "customer", dir: "auto" }, item.customer),
          el("time", { datetime: new Date(item.lastMessageAt).toISOString() }, ago(item.lastMessageAt)),
        ),
        el(
          "span",
          { class: "preview", dir: "auto" },
          who !== "" && el("span", { class: "preview-who" }, who),
          item.preview === null ? "No messages" : item.preview.text === "" ? "(no text)" : item.preview.text,
        ),
        el(
          "span",
          { class: "marks" },
          el(
            "span",
            { class: `status ${item.status}`, title: item.status === "snoozed" ? snoozeText(item.snoozedUntil) : "" },
            statusNames[item.status],
          ),
          (item.priority === "urgent" || item.priority === "high") &&
            el("span", { class: `priority ${item.priority}` }, item.priority === "urgent" ? "Urgent" : "High"),
          item.sla.runningSince !== null && slaBadge(item.sla),
          draft && el("span", { class: "draft-mark" }, "Draft"),
          live && item.lastRole === "agent" && el("span", { class: "replied" }, "Replied"),
          item.assignee !== null && view !== "mine" && el("span", { class: "assignee" }, item.assignee.name),
          el("span", { class: "channel" }, channelNames[item.channel]),
        ),
      ),
      waiting && el("span", { class: "unseen" }, ", the customer waits for a reply"),
    );
    const pick = el("input", { type: "checkbox", class: "pick", "aria-label": `Choose ${item.customer}` });
    pick.addEventListener("click", ({ shiftKey }) => bulk.toggle(item.id, { through: shiftKey }));
    return el("li", { "data-id": item.id }, pick, link);
  };

  /** Where the item that has the focus leaves the list, the focus goes to the one that follows it. */
  function keepingFocus(draw: () => void): void {
    const focused = document.activeElement?.closest("li");
    const at = focused?.parentElement === list ? [...list.children].indexOf(focused) : -1;
    draw();
    if (at === -1 || focused?.isConnected === true || list.contains(document.activeElement)) return;
    const links = list.querySelectorAll<HTMLAnchorElement>("a.item");
    links[Math.min(at, links.length - 1)]?.focus();
  }

  function render(): void {
    const state = store.state();
    const { view, counts, items, selected, query } = state;
    place(
      nav,
      views.map((name) => {
        const count = name === "claimed" || name === "resolved" || name === "all" ? undefined : counts?.[name];
        return kept(`view:${name}`, [count, name === view], () => viewLink(name, count, name === view));
      }),
    );
    bulk.render();
    sorting.element.hidden = query !== "" || (view !== "unassigned" && view !== "escalated");
    sorting.label(orderNames[state.order], `Sorted by: ${orderNames[state.order]}`);
    element.classList.toggle("picking", bulk.isOpen());
    keepingFocus(() =>
      place(
        list,
        items.map((item) => {
          const isSelected = item.id === selected;
          const draft = drafts.has(item.id);
          return kept(item.id, [item, view, isSelected, draft, ago(item.lastMessageAt)], () =>
            entry(item, view, isSelected, draft),
          );
        }),
      ),
    );
    for (const box of list.querySelectorAll<HTMLInputElement>("input.pick")) {
      box.checked = bulk.has(box.parentElement?.dataset["id"] ?? "");
    }
    list.hidden = items.length === 0;
    connection.textContent = state.connected ? "" : "Not connected. Trying again…";
    place(foot, footOf(state.list, query, view, items.length, state.nextCursor !== null));
  }

  function footOf(
    load: "loading" | "ready" | "failed",
    query: string,
    view: View,
    count: number,
    more: boolean,
  ): Node[] {
    if (load === "failed") {
      return [
        kept("failed", [], () =>
          el(
            "div",
            { class: "empty", role: "alert" },
            el("p", { class: "empty-title" }, "The list could not be loaded"),
            button("Try again", () => void store.more(), { kind: "secondary" }),
          ),
        ),
      ];
    }
    if (load === "loading")
      return [
        kept("loading", [], () =>
          el("div", { class: "skeleton", "aria-label": "Loading" }, el("i"), el("i"), el("i"), el("i")),
        ),
      ];
    if (count === 0) {
      const [title, text] =
        query === ""
          ? emptyViews[view]
          : ["Nothing found", `No conversation in this view has every word of “${query}”.`];
      return [
        kept("empty", [title, text], () =>
          el(
            "div",
            { class: "empty" },
            icon(query === "" ? viewIcons[view] : "search"),
            el("p", { class: "empty-title" }, title),
            el("p", {}, text),
          ),
        ),
      ];
    }
    return more ? [kept("more", [], () => button("Show more", () => void store.more(), { kind: "secondary" }))] : [];
  }

  return {
    element,
    render,
    focusSearch() {
      search.focus();
      search.select();
    },
    step,
    pick() {
      const at = document.activeElement?.closest<HTMLElement>(".conversations > li")?.dataset["id"];
      const id = at ?? store.state().selected;
      if (id !== undefined && store.state().items.some((item) => item.id === id)) bulk.toggle(id);
      else listener.notice("Go to a conversation with j and k first.", "problem");
    },
    stopPicking() {
      if (!bulk.isOpen()) return false;
      bulk.close();
      return true;
    },
  };

  function step(by: 1 | -1): void {
    const links = [...list.querySelectorAll<HTMLAnchorElement>("a.item")];
    const at = links.findIndex((link) => link.parentElement?.contains(document.activeElement) === true);
    const open = links.findIndex((link) => link.getAttribute("aria-current") === "true");
    const from = at === -1 ? open : at;
    const next = from === -1 ? (by === 1 ? 0 : links.length - 1) : from + by;
    links[Math.min(links.length - 1, Math.max(0, next))]?.focus();
  }
}
