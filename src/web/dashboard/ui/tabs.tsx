import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly render: () => ComponentChildren;
}

/** Parts of a page of which one is shown. Arrow keys, Home and End move between them. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The shown tab; another text shows the first one. */
  readonly current: string;
  readonly choose: (id: string) => void;
}) {
  const { label, tabs, current, choose } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.id === current),
  );
  // On a phone the row of tabs scrolls. The page must not: the tabs can be far below its beginning.
  useLayoutEffect(() => {
    const [row, tab] = [list.current, list.current?.children[at]].map((each) => each?.getBoundingClientRect());
    if (row === undefined || tab === undefined) return;
    list.current?.scrollBy({ left: Math.max(0, tab.right - row.right) - Math.max(0, row.left - tab.left) });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const isRightToLeft = list.current !== null && getComputedStyle(list.current).direction === "rtl";
    const forward = isRightToLeft ? -1 : 1;
    const to = { ArrowRight: at + forward, ArrowLeft: at - forward, Home: 0, End: tabs.length - 1 }[event.key];
    const heir = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (heir === undefined) return;
    event.preventDefault();
    choose(heir.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(heir.id)}"]`)?.focus();
  };
  return (
    <div class="tabbed">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => choose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tabs[at]?.id}`} tabIndex={0}>
        {tabs[at]?.render()}
      </div>
    </div>
  );
}
