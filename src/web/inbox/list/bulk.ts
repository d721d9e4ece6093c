import type { ListItem } from "#http/inbox/wire.ts";
import { bulkMax } from "#http/inbox/wire.ts";
import type { BulkChange } from "#web/inbox/store/api.ts";
import { api, Refused } from "#web/inbox/store/api.ts";
import type { InboxStore, InboxListener } from "#web/inbox/store/state.ts";
import { button, el, place } from "#web/inbox/ui/dom.ts";
import { createMenu } from "#web/inbox/ui/menu.ts";
import { agentChoices, shortName } from "#web/inbox/ui/labels.ts";

/** Several conversations of the list, to be changed at once. */
export interface Bulk {
  /** Tells how many are chosen and what can be done with them. */
  readonly element: HTMLElement;
  /** Begins to choose, and ends it. */
  readonly opener: HTMLElement;
  isOpen(): boolean;
  has(id: string): boolean;
  /** `through`: and all from the one chosen before to this one. */
  toggle(id: string, how?: { readonly through?: boolean }): void;
  close(): void;
  render(): void;
}

const many = (count: number): string => `${count} ${count === 1 ? "conversation" : "conversations"}`;

export function createBulk(
  store: InboxStore,
  { changed, notice }: Pick<InboxListener, "changed" | "notice">,
  leave: () => void,
): Bulk {
  const chosen = new Set<string>();
  let isOpen = false;
  let busy = false;
  /** Something was done with those that are chosen. */
  let acted = false;
  let last: string | undefined;
  let shownIn = "";
  /** Counts how often it was begun to choose: what was asked for before is not told in a bar that was opened since. */
  let round = 0;
  let refusals: readonly { readonly customer: string; readonly reason: string }[] = [];

  const items = (): readonly ListItem[] => store.state().items.filter(({ id }) => chosen.has(id));
  const opener = button("Choose several", () => (isOpen ? stop() : open()), {
    kind: "icon bulk-opener",
    shape: "checks",
    iconOnly: true,
    key: "x",
  });
  opener.setAttribute("aria-pressed", "false");
  const told = el("p", { class: "bulk-count", role: "status" });
  const all = button("Choose all shown", () => chooseAll(), { kind: "plain" });
  const end = button("Stop choosing", () => stop(), { kind: "icon", shape: "close", iconOnly: true });
  const resolve = button("Resolve", () => void run({ action: "resolve" }, "resolved"), {
    kind: "secondary",
    shape: "check",
  });
  const archive = button("Archive", () => void run({ action: "archive" }, "archived"), { kind: "secondary" });
  const assign = createMenu("Assign", { shape: "person" }, () => {
    const { agents, me } = store.state();
    // As they stand when the choice is offered: what changes while it is looked at is not decided on.
    const asked = items();
    void store.loadAgents();
    return agentChoices(agents, me.agent.email).map(({ email, label }) => ({
      label,
      choose: () => void run({ action: "assign", to: email }, `assigned to ${shortName(label)}`, asked),
    }));
  });
  const tag = el("input", {
    type: "text",
    placeholder: "Tag",
    "aria-label": "Add a tag to the chosen conversations",
    maxlength: "64",
    autocomplete: "off",
    enterkeyhint: "done",
  });
  const tagForm = el("form", { class: "tag-form bulk-tag" }, tag);
  tagForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = tag.value.trim().toLowerCase();
    if (name === "" || chosen.size === 0) return;
    void run({ action: "tag", tag: name }, `tagged ${name}`).then((done) => {
      if (done) tag.value = "";
    });
  });
  const failed = el("div", { class: "bulk-refusals", role: "alert" });
  const element = el(
    "div",
    { class: "bulk", role: "group", "aria-label": "Chosen conversations" },
    el("div", { class: "bulk-head" }, told, all, end),
    el("div", { class: "bulk-actions" }, assign.element, resolve, archive, tagForm),
    failed,
  );
  element.hidden = true;

  function open(): void {
    isOpen = true;
    acted = false;
    round += 1;
    shownIn = listName();
    changed();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    chosen.clear();
    refusals = [];
    last = undefined;
    changed();
  }

  /** Ended by who chooses: they go on in the list, if the focus was on what is gone now. */
  function stop(): void {
    const focused = document.activeElement;
    const within = element.contains(focused) || focused?.matches("input.pick") === true;
    close();
    if (within) leave();
  }

  /** Which list it is that is chosen from. */
  const listName = (): string => JSON.stringify([store.state().view, store.state().query]);

  function add(id: string): boolean {
    if (chosen.size >= bulkMax && !chosen.has(id)) {
      notice(`At most ${bulkMax} conversations at once.`, "problem");
      return false;
    }
    chosen.add(id);
    return true;
  }

  function chooseAll(): void {
    for (const { id } of store.state().items) if (!add(id)) break;
    changed();
  }

  /** Each is changed only if it still stands as it is listed; what is refused stays chosen, and says why. */
  async function run(change: BulkChange, done: string, asked = items()): Promise<boolean> {
    if (busy || asked.length === 0) return false;
    const begun = round;
    busy = true;
    refusals = [];
    changed();
    try {
      const results = await api.bulk(change, asked);
      const names = new Map(asked.map(({ id, customer }) => [id, customer]));
      const refused = results.flatMap(({ id, refused: reason }) => (reason === null ? [] : [{ id, reason }]));
      const count = results.length - refused.length;
      // The bar in which the reasons would stand is closed, and another one is not about them.
      const isHere = isOpen && round === begun;
      if (count > 0 && change.action === "resolve") store.forgetResolve();
      const text = count > 0 ? `${many(count)} ${done}.` : "";
      if (refused.length > 0 && !isHere) notice(`${many(refused.length)} could not be changed. ${text}`, "problem");
      else if (text !== "") notice(text, "done");
      if (!isHere) return false;
      acted = true;
      refusals = refused.map(({ id, reason }) => ({ customer: shortName(names.get(id) ?? id), reason }));
      return refused.length === 0;
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      notice(
        error instanceof Refused ? error.message : "Something went wrong in this page. Please load it again.",
        "problem",
      );
      return false;
    } finally {
      busy = false;
      store.refresh();
      changed();
    }
  }

  function drawRefusals(): Node[] {
    if (refusals.length === 0) return [];
    return [
      el("p", {}, `${many(refusals.length)} could not be changed:`),
      el("ul", {}, ...refusals.map(({ customer, reason }) => el("li", {}, el("bdi", {}, customer), `: ${reason}`))),
    ];
  }

  let drawn: typeof refusals | undefined;
  return {
    element,
    opener,
    isOpen: () => isOpen,
    has: (id) => chosen.has(id),
    toggle(id, { through = false } = {}) {
      if (!isOpen) open();
      const order = store.state().items.map((item) => item.id);
      const from = through && last !== undefined ? order.indexOf(last) : -1;
      if (from !== -1 && !chosen.has(id)) {
        const [first, final] = [from, order.indexOf(id)].toSorted((a, b) => a - b);
        for (const each of order.slice(first, (final ?? 0) + 1)) if (!add(each)) break;
      } else if (chosen.has(id)) chosen.delete(id);
      else add(id);
      last = id;
      changed();
    },
    close: stop,
    render() {
      // By what was typed in the search, or by a link: the focus stays where that was done.
      if (isOpen && shownIn !== listName()) close();
      const { items: listed, list } = store.state();
      // What has left the list is not seen any more, and nothing is done with what is not seen.
      const had = chosen.size;
      if (list === "ready") for (const id of chosen) if (!listed.some((item) => item.id === id)) chosen.delete(id);
      if (isOpen && acted && had > 0 && chosen.size === 0 && refusals.length === 0) stop();
      element.hidden = !isOpen;
      opener.setAttribute("aria-pressed", String(isOpen));
      if (!isOpen) return;
      const some = items();
      const text = some.length === 0 ? "Choose conversations" : `${some.length} chosen`;
      if (told.textContent !== text) told.textContent = text;
      // Not while one is under way: a disabled control loses the focus, and run() ignores a second press.
      const none = some.length === 0;
      resolve.disabled = none || some.every(({ status }) => status === "resolved" || status === "archived");
      archive.disabled = none || some.every(({ status }) => status !== "resolved");
      assign.disable(none);
      tag.disabled = none;
      if (drawn !== refusals) {
        drawn = refusals;
        place(failed, drawRefusals());
      }
    },
  };
}
