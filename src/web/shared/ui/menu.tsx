import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Shape } from "./elements.tsx";
import { Button } from "./elements.tsx";

export interface Choice {
  readonly label: string;
  readonly choose: () => void;
  /** In effect now, of choices that exclude each other. */
  readonly current?: boolean;
}

export interface MenuProps {
  readonly label: string;
  /** Shown in place of the label. */
  readonly text?: string;
  /** The accessible name, where it is not the text. */
  readonly name?: string;
  readonly shape?: Shape;
  readonly shortcut?: string;
  readonly kind?: string;
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  /** Called when the menu opens: the choices stay as they were offered. */
  readonly choices: () => readonly Choice[];
}

/** A button that opens a list of choices. Arrow keys and first letters move, Escape and a click elsewhere close. */
export function Menu({ label, text = label, name, choices, disabled = false, hidden = false, ...look }: MenuProps) {
  const [offered, setOffered] = useState<readonly Choice[] | undefined>(undefined);
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = offered !== undefined && !disabled;
  const close = (): void => setOffered(undefined);
  const focusOpener = (): void => place.current?.querySelector("button")?.focus();

  useLayoutEffect(() => {
    if (disabled) close();
  }, [disabled]);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const items = list.current;
    (items?.querySelector<HTMLElement>("[aria-checked=true]") ?? items?.querySelector<HTMLElement>("button"))?.focus();
    const closeFromElsewhere = ({ target }: Event): void => {
      if (!(target instanceof Node) || place.current?.contains(target) !== true) close();
    };
    document.addEventListener("pointerdown", closeFromElsewhere);
    return () => document.removeEventListener("pointerdown", closeFromElsewhere);
  }, [isOpen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...(list.current?.querySelectorAll("button") ?? [])];
    const heir = itemFor(event, items);
    if (heir !== undefined) heir.focus();
    if (event.key === "Escape" || event.key === "Tab") close();
    if (event.key === "Escape") focusOpener();
    event.stopPropagation();
  };

  return (
    <div class="menu-place" ref={place} hidden={hidden}>
      <Button
        kind="secondary"
        {...look}
        label={text}
        {...(name !== undefined && { "aria-label": name })}
        disabled={disabled}
        aria-haspopup="menu"
        aria-controls={id}
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close() : setOffered(choices()))}
      />
      <div class="menu" role="menu" id={id} aria-label={label} hidden={!isOpen} ref={list} onKeyDown={onKeyDown}>
        {isOpen &&
          offered.map(({ label: item, current, choose }, index) => (
            <Button
              key={index}
              label={item}
              kind="menu-item"
              role={current === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={current}
              dir="auto"
              tabIndex={-1}
              onClick={() => {
                close();
                // The item is removed, so the focus moves on first.
                focusOpener();
                choose();
              }}
            />
          ))}
      </div>
    </div>
  );
}

/** The item that a key moves the focus to. */
function itemFor(event: KeyboardEvent, items: readonly HTMLButtonElement[]): HTMLButtonElement | undefined {
  const at = items.findIndex((item) => item === document.activeElement);
  const [next, before] = [at + 1, at - 1];
  const to = {
    ArrowDown: next,
    ArrowRight: next,
    ArrowUp: before,
    ArrowLeft: before,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    return items.at(to % items.length);
  }
  if (!/^[\p{L}\p{N}]$/u.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const letter = event.key.toLowerCase();
  const around = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return around.find((item) => item.textContent.trim().toLowerCase().startsWith(letter));
}
