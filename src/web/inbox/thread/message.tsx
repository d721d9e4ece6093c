import type { Source } from "#domain/conversation/message.ts";
import { agentReactions } from "#domain/conversation/reaction.ts";
import type { ConversationView, MessageView } from "#http/inbox/wire.ts";
import { blockText } from "#web/shared/block-text.ts";
import { useInbox } from "#web/inbox/inbox-store.ts";
import { Avatar, Button, Icon } from "#web/shared/ui/elements.tsx";
import { TimeOfDay } from "#web/shared/ui/clocks.tsx";
import { Content, Link } from "#web/shared/ui/content.tsx";
import { Menu } from "#web/shared/ui/menu.tsx";
import { deliveryNames } from "#web/inbox/ui/labels.ts";
import { Files } from "./files.tsx";
import { toolId, toolsOf } from "./own-replies.ts";
import { ReplyEditor } from "./reply-editor.tsx";

const quotedMax = 300;

interface MessageProps {
  readonly message: MessageView;
  readonly customer: string;
  readonly amendable: ConversationView["amendable"];
  /** First, and last, of messages by the same author. */
  readonly starts: boolean;
  readonly ends: boolean;
}

export function Message({ message, customer, amendable, starts, ends }: MessageProps) {
  const { ownReplies } = useInbox();
  const isEdited = ownReplies.editingId.value === message.id;
  const editing = isEdited ? ownReplies.editing.value : undefined;
  if (editing !== undefined) return <ReplyEditor editing={editing} />;
  const { role, author, confidence, deleted, files, sources } = message;
  const name = role === "user" ? customer : (author ?? (role === "assistant" ? "Assistant" : "Agent"));
  const failure = failureOf(message);
  const side = role === "assistant" ? "bot" : role;
  return (
    <article
      class={`row ${side}${starts ? " first" : ""}${ends || failure !== null || confidence !== null ? " last" : ""}`}
    >
      {role === "assistant" ? (
        <span class="avatar bot" aria-hidden="true">
          <Icon name="spark" filled />
        </span>
      ) : (
        <Avatar name={name} />
      )}
      <div class="body">
        <span class="unseen">{name}: </span>
        {message.refersTo !== null && <Reference of={message.refersTo} customer={customer} />}
        {message.forwarded !== null && <Forwarded from={message.forwarded.from} />}
        <Bubble message={message} />
        {!deleted && files.length > 0 && <Files files={files} />}
        {role === "assistant" && sources.length > 0 && <Sources list={sources} />}
        <Reactions of={message.reactions} customer={customer} />
        {failure !== null && (
          <p class={`trouble ${failure.state}`}>
            <Icon name="alert" />
            <span>
              <strong>{deliveryNames[failure.state]}</strong>
              {failure.error !== null && ` · ${withoutState(failure.error)}`}
            </span>
          </p>
        )}
        <Facts message={message} name={name} customer={customer} amendable={amendable} />
      </div>
    </article>
  );
}

const failureOf = ({ delivery }: MessageView): MessageView["delivery"] =>
  delivery?.state === "failed" || delivery?.state === "unknown" ? delivery : null;

function Bubble({ message: { deleted, role, content, files } }: Pick<MessageProps, "message">) {
  if (!deleted) return content.length > 0 || files.length === 0 ? <Content of={content} kind="bubble" /> : null;
  return (
    <div class="bubble gone">
      <p>{role === "user" ? "The customer deleted this message." : "This reply was deleted."}</p>
    </div>
  );
}

/** The earlier message that this one answers. */
function Reference({
  of: { role, author, text },
  customer,
}: {
  readonly of: NonNullable<MessageView["refersTo"]>;
  readonly customer: string;
}) {
  const name = role === "user" ? customer : (author ?? (role === "assistant" ? "Assistant" : role && "Agent"));
  return (
    <blockquote class="reference">
      <span class="unseen">In reply to: </span>
      {name !== null && <bdi>{name}</bdi>}
      <p dir="auto">{text}</p>
    </blockquote>
  );
}

function Forwarded({ from }: NonNullable<MessageView["forwarded"]>) {
  return (
    <p class="forwarded">
      <Icon name="forward" />
      {from === null ? (
        "Forwarded"
      ) : (
        <>
          Forwarded from <bdi>{from}</bdi>
        </>
      )}
    </p>
  );
}

/** Emoji below a message, with those who have chosen them. */
function Reactions({ of, customer }: { readonly of: MessageView["reactions"]; readonly customer: string }) {
  if (of.length === 0) return null;
  return (
    <ul class="reactions" aria-label="Reactions">
      {[...new Set(of.map(({ emoji }) => emoji))].map((emoji) => {
        const all = of.filter((each) => each.emoji === emoji);
        const names = all.map(({ author, role }) => author ?? (role === "user" ? customer : "An agent"));
        const text = `${new Intl.ListFormat("en").format(names)} reacted with ${emoji}`;
        return (
          <li key={emoji} title={text}>
            <span aria-hidden="true">{all.length === 1 ? emoji : `${emoji} ${all.length}`}</span>
            <span class="unseen">{text}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** The reason without the state, which is shown before it. */
const withoutState = (error: string): string =>
  error.replace(/^This message (?:could not be delivered|may not have arrived)(?:: |, and is )/u, "");

interface FactsProps extends Pick<MessageProps, "message" | "customer" | "amendable"> {
  readonly name: string;
}

/** The line below a message. */
function Facts({ message, name, customer, amendable }: FactsProps) {
  const { role, createdAt, edited, deleted, confidence, delivery, changing } = message;
  const isShowingDelivery = delivery !== null && failureOf(message) === null && !deleted && changing === null;
  return (
    <div class="meta">
      <bdi title={name}>{name}</bdi>
      {role === "assistant" && <span class="tag-bot">bot</span>}
      <TimeOfDay at={createdAt} />
      {edited && !deleted && <span>edited</span>}
      {confidence !== null && (
        <span class={`confidence ${confidence}`} title="How sure the assistant was of this answer">
          <span class="bars" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {confidence} confidence
        </span>
      )}
      <Thumbs of={message.thumbs} />
      {isShowingDelivery && <span class={`delivery ${delivery.state}`}>{deliveryNames[delivery.state]}</span>}
      {changing !== null && (
        <span class="delivery changing">
          <Icon name="clock" />
          {changing === "edit" ? "Being changed…" : "Being deleted…"}
        </span>
      )}
      <AnswerTool message={message} name={name} />
      <ReactTool message={message} name={name} amendable={amendable} />
      <Tools message={message} customer={customer} amendable={amendable} />
    </div>
  );
}

/** The customers' opinion of an answer. */
function Thumbs({ of: { up, down } }: { readonly of: MessageView["thumbs"] }) {
  return (
    <>
      {up > 0 && (
        <span class="thumb up">
          <Icon name="thumb" />
          {up === 1 ? "Helpful" : `Helpful to ${up}`}
        </span>
      )}
      {down > 0 && (
        <span class="thumb down">
          <Icon name="thumb" />
          {down === 1 ? "Not helpful" : `Not helpful to ${down}`}
        </span>
      )}
    </>
  );
}

/** Begins a reply to this message in particular. */
function AnswerTool({ message: { id, deleted, content, files }, name }: Pick<FactsProps, "message" | "name">) {
  const { sending, canWrite, open } = useInbox();
  if (!canWrite || deleted || open.conversation.value?.status === "archived") return null;
  const text = blockText(content) || files.map((file) => file.name).join(", ");
  return (
    <Button
      kind="tool"
      label="Reply"
      aria-label={`Reply to this message of ${name}`}
      onClick={() => sending.answer({ id, author: name, text: text.slice(0, quotedMax).toWellFormed() })}
    />
  );
}

/** Offers the reactions that the customer would see. The one in effect is taken back by choosing it again. */
function ReactTool({ message, name, amendable }: Omit<FactsProps, "customer">) {
  const { actions, canWrite } = useInbox();
  const { id, role, deleted, reactions } = message;
  if (!canWrite || !amendable.react || role !== "user" || deleted) return null;
  const current = reactions.find((each) => each.role === "agent")?.emoji;
  const choices = () =>
    agentReactions.map((emoji) => ({
      label: emoji,
      current: emoji === current,
      choose: () => void actions.react(id, emoji === current ? null : emoji),
    }));
  return <Menu label="React" name={`React to this message of ${name}`} kind="tool" choices={choices} />;
}

/** The buttons of a reply that can still be changed. */
function Tools({ message, customer, amendable }: Omit<FactsProps, "name">) {
  const { ownReplies, dialog, canWrite } = useInbox();
  const { id, own } = message;
  if (!canWrite) return null;
  const tools = {
    edit: { label: "Edit", press: () => ownReplies.begin(id, own ?? "") },
    remove: { label: "Delete", press: () => (dialog.value = { kind: "delete-reply", customer, messageId: id }) },
  };
  return toolsOf(message, amendable).map((name) => {
    const { label, press } = tools[name];
    return (
      <Button
        key={name}
        kind="tool"
        label={label}
        id={toolId(id, name)}
        aria-label={`${label} your reply`}
        onClick={press}
      />
    );
  });
}

/** The passages that an answer was made of, folded. */
const Sources = ({ list }: { readonly list: readonly Source[] }) => (
  <details class="sources">
    <summary>
      <span>{list.length === 1 ? "1 source" : `${list.length} sources`}</span>
      <Icon name="down" />
    </summary>
    <ol>
      {list.map(({ title, url, chunk, score }, index) => (
        <li key={index}>
          <div class="source-head">
            {/^https?:/iu.test(url) ? (
              <Link href={url} kind="source-title">
                {title || url}
              </Link>
            ) : (
              <span class="source-title">{title}</span>
            )}
            <span class="score" title="Relevance">
              {score.toFixed(2)}
            </span>
          </div>
          <p dir="auto">{chunk}</p>
        </li>
      ))}
    </ol>
  </details>
);
