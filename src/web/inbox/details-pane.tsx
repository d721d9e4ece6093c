import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { priorities } from "#domain/conversation/sla.ts";
import type { ConversationView } from "#http/inbox/wire.ts";
import { useInbox } from "./inbox-store.ts";
import { hashOf } from "./store/address.ts";
import { Avatar, Button, Icon } from "#web/shared/ui/elements.tsx";
import { channelLabel } from "./ui/channel-labels.ts";
import { Ago } from "#web/shared/ui/clocks.tsx";
import { SlaBadge } from "./ui/clocks.tsx";
import { Link } from "#web/shared/ui/content.tsx";
import { agentChoices, statusNames, statusText } from "./ui/labels.ts";
import type { Choice } from "#web/shared/ui/menu.tsx";
import { Menu } from "#web/shared/ui/menu.tsx";
import { TagForm } from "./ui/tag-form.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";
import { timeLeft } from "./ui/time-left.ts";

const tagsMax = 50;

interface ConversationProps {
  readonly conversation: ConversationView;
}

export function DetailsPane() {
  const { open, isShowingDetails } = useInbox();
  const conversation = open.conversation.value;
  return (
    <aside class="details-pane" aria-label="Details">
      {conversation !== undefined && (
        <>
          <header class="details-head">
            <h2>Details</h2>
            <Button label="Close details" kind="icon" shape="close" onClick={() => (isShowingDetails.value = false)} />
          </header>
          <div class="details-scroll" key={conversation.id}>
            <Customer conversation={conversation} />
            <Assignee conversation={conversation} />
            <Priority conversation={conversation} />
            <Facts conversation={conversation} />
            <Tags conversation={conversation} />
            {conversation.others.length > 0 && <OtherConversations conversation={conversation} />}
          </div>
        </>
      )}
    </aside>
  );
}

function Customer({ conversation: { customer } }: ConversationProps) {
  const { contactId, label, email, phone, verified, verifiedFields, page } = customer;
  const { me } = useInbox();
  const contact = (field: "email" | "phone", value: ComponentChildren) => (
    <span>
      {value}
      <VerifiedMark isVerified={verifiedFields.includes(field)} yes="Verified" no="Not verified" />
    </span>
  );
  return (
    <section class="group who">
      <Avatar name={label} />
      <p class="who-name" dir="auto" title={label}>
        {label}
      </p>
      <VerifiedMark as="p" isVerified={verified} yes="Identity verified" no="Identity not verified" />
      <FactList
        facts={{
          "E-mail": email !== null && contact("email", <Link href={`mailto:${email}`}>{email}</Link>),
          Phone: phone !== null && contact("phone", phone),
          Page: page !== null && <Link href={page} title={page} children={shortPage(page)} />,
        }}
      />
      {me.agent.role === "admin" && <a href={`/dashboard/customers?q=${contactId}`}>Export or erase</a>}
    </section>
  );
}

function VerifiedMark(props: {
  readonly as?: "p" | "span";
  readonly isVerified: boolean;
  readonly yes: string;
  readonly no: string;
}) {
  const Tag = props.as ?? "span";
  return (
    <Tag class={props.isVerified ? "verified" : "soft"}>
      {props.isVerified && <Icon name="check" />}
      {props.isVerified ? props.yes : props.no}
    </Tag>
  );
}

/** Facts that are false are left out. */
const FactList = ({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren>> }) => (
  <dl>
    {Object.entries(facts)
      .filter(([, value]) => value !== false)
      .map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </Fragment>
      ))}
  </dl>
);

function shortPage(page: string): string {
  const { host, pathname } = new URL(page);
  return host + (pathname === "/" ? "" : pathname);
}

function Assignee({ conversation }: ConversationProps) {
  const { actions, team, me, canWrite } = useInbox();
  const { status, assignee } = conversation;
  const isMine = assignee?.email === me.agent.email;
  const name = assignee === null ? "Nobody" : isMine ? `${assignee.name} (you)` : assignee.name;
  const choices = (): readonly Choice[] => {
    void team.loadAgents();
    const current = assignee?.email ?? null;
    // A snoozed conversation with an assignee cannot be given back to the assistant.
    const nobody = status === "snoozed" && assignee !== null ? [] : [{ email: null, name: "", label: "Nobody" }];
    return [...nobody, ...agentChoices(team.agents.value, me.agent.email)].map(({ email, name: agent, label }) => ({
      label,
      current: email === current,
      choose: () => {
        // Nothing changes; but assigning a snoozed conversation to its assignee ends the snooze.
        if (email === current && (email === null || status === "claimed")) return;
        void actions.assign(email === null ? null : { email, name: agent }, conversation);
      },
    }));
  };
  return (
    <section class="group">
      <h3 class="label">Assigned to</h3>
      <Menu
        label="Nobody"
        text={name}
        name={`Assigned to: ${name}`}
        shape="person"
        shortcut="a"
        kind="secondary wide"
        disabled={!canWrite || status === "resolved" || status === "archived"}
        choices={choices}
      />
    </section>
  );
}

function Priority({ conversation }: ConversationProps) {
  const { actions, canWrite } = useInbox();
  const select = useRef<HTMLSelectElement>(null);
  useLayoutEffect(() => {
    // Not while the agent chooses.
    if (select.current !== null && document.activeElement !== select.current)
      select.current.value = conversation.priority;
  });
  return (
    <section class="group">
      <label class="label" for="priority">
        Priority
      </label>
      <select
        id="priority"
        ref={select}
        disabled={!canWrite}
        onChange={({ currentTarget }) => void actions.edit({ priority: currentTarget.value })}
      >
        {priorities.toReversed().map((priority) => (
          <option key={priority} value={priority}>
            {priority.charAt(0).toUpperCase() + priority.slice(1)}
          </option>
        ))}
      </select>
    </section>
  );
}

function Facts({ conversation: { status, snoozedUntil, sla, channel, startedAt, resolvedAt } }: ConversationProps) {
  const isOver = status === "resolved" || status === "archived";
  const stopped = sla.state === "breached" ? "Breached" : "Kept";
  return (
    <section class="group">
      <FactList
        facts={{
          Status: statusText(status, snoozedUntil),
          SLA: sla.runningSince !== null ? <SlaBadge sla={sla} /> : isOver ? stopped : `Paused, ${timeLeft(sla).text}`,
          Channel: channelLabel(channel),
          Started: dateAndTime(startedAt),
          Resolved: resolvedAt !== null && dateAndTime(resolvedAt),
        }}
      />
    </section>
  );
}

function Tags({ conversation: { tags } }: ConversationProps) {
  const { actions, canWrite } = useInbox();
  function add(tag: string): boolean {
    if (tags.length >= tagsMax) return false;
    if (!tags.includes(tag)) void actions.edit({ addTags: [tag] });
    return true;
  }
  return (
    <section class="group">
      <h3 class="label">Tags</h3>
      <ul class="tags" aria-label="Tags" hidden={tags.length === 0}>
        {tags.map((tag) => (
          <li key={tag}>
            <span dir="auto">{tag}</span>
            {canWrite && (
              <button
                type="button"
                aria-label={`Remove the tag ${tag}`}
                title="Remove"
                onClick={() => void actions.edit({ removeTags: [tag] })}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {canWrite && <TagForm label="Add a tag" placeholder="Add a tag" add={add} />}
    </section>
  );
}

function OtherConversations({ conversation: { others } }: ConversationProps) {
  const { list } = useInbox();
  return (
    <section class="group">
      <h3 class="label">Other conversations</h3>
      <ul class="others">
        {others.map(({ id, channel, status, startedAt }) => (
          <li key={id}>
            <a href={hashOf(list.view.value, id)}>
              <span>{channelLabel(channel)}</span>
              <span class={`status ${status}`}>{statusNames[status]}</span>
              <time>
                <Ago at={startedAt} />
              </time>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
