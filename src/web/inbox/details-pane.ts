import { channelNames } from "#domain/conversation/message.ts";
import { priorities } from "#domain/conversation/sla.ts";
import type { ConversationView } from "#http/inbox/wire.ts";
import { link } from "./thread/content.ts";
import type { InboxStore } from "./store/state.ts";
import { hashOf } from "./store/state.ts";
import { avatar, button, createKept, el, icon, place } from "./ui/dom.ts";
import { createMenu } from "./ui/menu.ts";
import { ago, dateAndTime, slaBadge, timeLeft } from "./ui/time.ts";
import { agentChoices, snoozeText, statusNames } from "./ui/labels.ts";

export interface DetailsPane {
  readonly element: HTMLElement;
  /** Offers whom the conversation can be given to. */
  openAssignee(): void;
  render(): void;
}

const tagsMax = 50;

export function createDetailsPane(store: InboxStore, close: () => void): DetailsPane {
  const element = el("aside", { class: "details-pane", "aria-label": "Details" });
  const kept = createKept();
  const head = el(
    "header",
    { class: "details-head" },
    el("h2", {}, "Details"),
    button("Close details", close, { kind: "icon", shape: "close", iconOnly: true }),
  );

  const tagInput = el("input", {
    type: "text",
    placeholder: "Add a tag",
    "aria-label": "Add a tag",
    maxlength: "64",
    autocomplete: "off",
    enterkeyhint: "done",
  });
  const tagForm = el("form", { class: "tag-form" }, tagInput);
  tagForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const tag = tagInput.value.trim().toLowerCase();
    const tags = store.state().conversation?.tags ?? [];
    if (tag === "" || tags.length >= tagsMax) return;
    tagInput.value = "";
    if (!tags.includes(tag)) void store.change({ addTags: [tag] });
  });

  const select = el(
    "select",
    { id: "priority" },
    ...priorities
      .toReversed()
      .map((priority) => el("option", { value: priority }, priority.charAt(0).toUpperCase() + priority.slice(1))),
  );
  select.addEventListener("change", () => void store.change({ priority: select.value }));

  const assignee = createMenu("Nobody", { shape: "person", key: "a", kind: "secondary wide" }, () => {
    const { conversation, agents, me } = store.state();
    void store.loadAgents();
    if (conversation === undefined) return [];
    const { status, assignee: holder } = conversation;
    const current = holder?.email ?? null;
    // What is asleep has no place among what the assistant answers.
    const nobody = status === "snoozed" && holder !== null ? [] : [{ email: null, label: "Nobody" }];
    return [...nobody, ...agentChoices(agents, me.agent.email)].map(({ email, label }) => ({
      label,
      current: email === current,
      choose: () => {
        // It is so already; but who sleeps is woken by being given to whom they belong.
        if (email === current && (email === null || status === "claimed")) return;
        void store.assign(email, conversation);
      },
    }));
  });

  function drawAssignee({ status, assignee: holder }: ConversationView, me: string): void {
    const name = holder === null ? "Nobody" : holder.email === me ? `${holder.name} (you)` : holder.name;
    assignee.label(name, `Assigned to: ${name}`);
    assignee.disable(status === "resolved" || status === "archived");
  }

  const tagList = el("ul", { class: "tags", "aria-label": "Tags" });
  const customer = el("div", { class: "card-place" });
  const facts = el("div", { class: "card-place" });
  const others = el("div", { class: "card-place" });
  const inside = el(
    "div",
    { class: "details-scroll" },
    customer,
    el("section", { class: "group" }, el("h3", { class: "label" }, "Assigned to"), assignee.element),
    el("section", { class: "group" }, el("label", { class: "label", for: "priority" }, "Priority"), select),
    facts,
    el("section", { class: "group" }, el("h3", { class: "label" }, "Tags"), tagList, tagForm),
    others,
  );
  place(element, [head, inside]);

  function render(): void {
    const { conversation, view, me } = store.state();
    head.hidden = conversation === undefined;
    inside.hidden = conversation === undefined;
    if (conversation === undefined) return;
    if (document.activeElement !== select) select.value = conversation.priority;
    drawAssignee(conversation, me.agent.email);
    place(customer, [kept("customer", [conversation.id, conversation.customer], () => drawCustomer(conversation))]);
    place(facts, [
      kept(
        "facts",
        [
          conversation.status,
          conversation.sla,
          conversation.snoozedUntil,
          conversation.channel,
          conversation.startedAt,
          conversation.resolvedAt,
        ],
        () => drawFacts(conversation),
      ),
    ]);
    tagList.hidden = conversation.tags.length === 0;
    place(
      tagList,
      conversation.tags.map((tag) => kept(`tag ${tag}`, tag, () => drawTag(tag))),
    );
    place(
      others,
      conversation.others.length === 0
        ? []
        : [
            kept(
              "others",
              [conversation.others, view, conversation.others.map(({ startedAt }) => ago(startedAt))],
              () =>
                el(
                  "section",
                  { class: "group" },
                  el("h3", { class: "label" }, "Other conversations"),
                  el(
                    "ul",
                    { class: "others" },
                    ...conversation.others.map((other) =>
                      el(
                        "li",
                        {},
                        el(
                          "a",
                          { href: hashOf(view, other.id) },
                          el("span", {}, channelNames[other.channel]),
                          el("span", { class: `status ${other.status}` }, statusNames[other.status]),
                          el("time", {}, ago(other.startedAt)),
                        ),
                      ),
                    ),
                  ),
                ),
            ),
          ],
    );
  }

  const drawTag = (tag: string): HTMLElement => {
    const remove = el(
      "button",
      { type: "button", "aria-label": `Remove the tag ${tag}`, title: "Remove" },
      icon("close"),
    );
    remove.addEventListener("click", () => void store.change({ removeTags: [tag] }));
    return el("li", {}, el("span", { dir: "auto" }, tag), remove);
  };

  return { element, render, openAssignee: () => assignee.open() };
}

function drawCustomer({ customer }: ConversationView): HTMLElement {
  const { label, email, phone, verified, verifiedFields, page } = customer;
  const marked = (field: "email" | "phone", value: Node | string): HTMLElement =>
    el(
      "span",
      {},
      value,
      verifiedFields.includes(field)
        ? el("span", { class: "verified" }, icon("check"), "Verified")
        : el("span", { class: "soft" }, "Not verified"),
    );
  return el(
    "section",
    { class: "group who" },
    avatar(label),
    el("p", { class: "who-name", dir: "auto", title: label }, label),
    verified
      ? el("p", { class: "verified" }, icon("check"), "Identity verified")
      : el("p", { class: "soft" }, "Identity not verified"),
    el(
      "dl",
      {},
      ...fact("E-mail", email === null ? null : marked("email", link(`mailto:${email}`, {}, email))),
      ...fact("Phone", phone === null ? null : marked("phone", phone)),
      ...fact("Page", page === null ? null : link(page, { title: page }, shortPage(page))),
    ),
  );
}

function drawFacts({ status, sla, snoozedUntil, channel, startedAt, resolvedAt }: ConversationView): HTMLElement {
  const paused = timeLeft(sla);
  const over = status === "resolved" || status === "archived";
  return el(
    "section",
    { class: "group" },
    el(
      "dl",
      {},
      ...fact("Status", status === "snoozed" ? snoozeText(snoozedUntil) : statusNames[status]),
      ...fact(
        "SLA",
        sla.runningSince !== null
          ? slaBadge(sla)
          : over
            ? sla.state === "breached"
              ? "Breached"
              : "Kept"
            : `Paused, ${paused.text}`,
      ),
      ...fact("Channel", channelNames[channel]),
      ...fact("Started", dateAndTime(startedAt)),
      ...fact("Resolved", resolvedAt === null ? null : dateAndTime(resolvedAt)),
    ),
  );
}

function fact(name: string, value: Node | string | null): Node[] {
  return value === null ? [] : [el("dt", {}, name), el("dd", { dir: "auto" }, value)];
}

function shortPage(page: string): string {
  const { host, pathname } = new URL(page);
  return host + (pathname === "/" ? "" : pathname);
}
