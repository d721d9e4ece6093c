import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Block } from "#channels/text/markdown.ts";
import type { Manner } from "#web/shared/blocks.ts";
import { blocks } from "#web/shared/blocks.ts";

const manner: Manner = { headingsBelow: 3, newTab: "opens in a new tab", hidden: "unseen" };

/** A text as the server has parsed it. It is built as elements, never from HTML. */
export function Content(props: {
  readonly of: readonly Block[];
  readonly kind: string;
  /** The level of the text's highest headings. Absent: they are below those of a page with three levels. */
  readonly topHeading?: number;
}) {
  const { of: text, kind, topHeading } = props;
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const headingsBelow = topHeading === undefined ? manner.headingsBelow : topHeading - highestHeading(text);
    element.current?.replaceChildren(...blocks(text, { ...manner, headingsBelow }));
  }, [text, topHeading]);
  return <div class={kind} dir="auto" ref={element} />;
}

function highestHeading(text: readonly Block[]): number {
  return Math.min(...text.map((block) => (block.t === "h" ? block.level : Infinity)), 6);
}

/** A link that opens in another tab. An address that is not for the web or an e-mail is shown as text. */
export function Link(props: {
  readonly href: string;
  readonly kind?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  const { href, kind, title, children } = props;
  const isMail = /^mailto:/iu.test(href);
  if (!isMail && !/^https?:/iu.test(href)) {
    return (
      <span class={kind} title={title}>
        {children}
      </span>
    );
  }
  return (
    <a class={kind} title={title} href={href} rel="noopener noreferrer nofollow" target={isMail ? undefined : "_blank"}>
      {children}
      {!isMail && <span class="unseen">{` (${manner.newTab})`}</span>}
    </a>
  );
}
