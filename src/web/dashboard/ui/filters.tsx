import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Icon } from "#web/shared/ui/elements.tsx";
import type { Option } from "./fields/choice.tsx";

/** A line of filters above a list. Their values belong into the address (`useQuery`), so that a link shows the same. */
export const FilterBar = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="filters" role="search">
    {children}
  </div>
);

const typingMs = 250;

/** A field for words to search for. `set` is called when the agent pauses. */
export function FilterSearch(props: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  const { label, value, set } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => set(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        placeholder={label}
        aria-label={label}
        dir="auto"
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </div>
  );
}

/** A choice that narrows a list. `all`: the label of no choice. */
export function FilterSelect(props: {
  readonly label: string;
  readonly all: string;
  readonly options: readonly Option[];
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  const { label, all, options, value, set } = props;
  const id = useId();
  return (
    <div class="filter">
      <label class="unseen" for={id}>
        {label}
      </label>
      <select id={id} value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
