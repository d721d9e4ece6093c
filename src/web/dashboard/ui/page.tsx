import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useDashboard } from "#web/dashboard/store.ts";

/**
 * The head of a page: its only h1, a sentence below it, and buttons. Names the browser's tab, and takes the focus when
 * the page was opened from another one, so that screen readers read it. Render it before the data is there.
 */
export function PageHead(props: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** The page that this one belongs to. */
  readonly back?: { readonly label: string; readonly href: string };
  /** Buttons and links. */
  readonly actions?: ComponentChildren;
}) {
  const { title, lead, back, actions } = props;
  const { me, router } = useDashboard();
  const heading = useRef<HTMLHeadingElement>(null);
  const workspace = me.value.workspace.name;
  useLayoutEffect(() => void (document.title = `${title} · ${workspace}`), [title, workspace]);
  useLayoutEffect(() => {
    if (router.hasMoved()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <header class="page-head">
      {back !== undefined && (
        <a class="back-link" href={back.href}>
          {back.label}
        </a>
      )}
      <div class="page-title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div class="row-actions">{actions}</div>}
      </div>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </header>
  );
}

/** A part of a page with an h2. */
export function Section(props: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <header class="section-head">
        <div>
          <h2 id={id}>{props.title}</h2>
          {props.lead !== undefined && <p class="hint">{props.lead}</p>}
        </div>
        {props.actions !== undefined && <div class="row-actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  );
}

/** A framed part of a page or section. `title`: an h3. */
export function Card(props: { readonly title?: string; readonly kind?: string; readonly children: ComponentChildren }) {
  const { title, kind = "", children } = props;
  return (
    <div class={`box ${kind}`.trim()}>
      {title !== undefined && <h3>{title}</h3>}
      {children}
    </div>
  );
}
