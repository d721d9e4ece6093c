import { useRef, useState } from "preact/hooks";
import { Icon } from "#web/shared/ui/elements.tsx";
import type { Field, FieldTexts } from "./field.tsx";
import { FieldFrame } from "./field.tsx";

/** A list of short texts, such as tags or addresses. Enter, a comma or leaving the field adds what was typed. */
export function TagsField(
  props: FieldTexts & {
    readonly of: Field<readonly string[]>;
    readonly placeholder?: string;
    readonly maxLength?: number;
    readonly maxItems?: number;
  },
) {
  const { of: field, label, hint, optional, placeholder, maxLength, maxItems = Infinity } = props;
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const tags = field.value;
  const add = (): void => {
    const tag = text.trim();
    setText("");
    if (tag !== "" && !tags.includes(tag)) field.set([...tags, tag]);
  };
  const remove = (tag: string): void => {
    field.set(tags.filter((each) => each !== tag));
    input.current?.focus();
  };
  return (
    <FieldFrame of={field} label={label} hint={hint} {...(optional !== undefined && { optional })}>
      {(attributes) => (
        <div class="tags-field">
          {tags.length > 0 && (
            <ul class="tags">
              {tags.map((tag) => (
                <li key={tag} dir="auto">
                  {tag}
                  <button type="button" aria-label={`Remove ${tag}`} onClick={() => remove(tag)}>
                    <Icon name="close" />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...attributes}
            ref={input}
            type="text"
            dir="auto"
            autocomplete="off"
            placeholder={placeholder}
            maxLength={maxLength}
            readOnly={tags.length >= maxItems}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== ",") return;
              // Enter would send the form.
              if (text.trim() !== "" || event.key === ",") event.preventDefault();
              add();
            }}
          />
        </div>
      )}
    </FieldFrame>
  );
}
