import { useState } from "preact/hooks";
import { Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { FilterBar, FilterSearch } from "#web/dashboard/ui/filters.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged } from "#web/dashboard/ui/resource.tsx";
import { pathOf } from "./documents.ts";

interface Passage {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  readonly position: number;
}

/** The passages of a document. */
export function PassageList({ id }: { readonly id: string }) {
  const [q, setQ] = useState("");
  const list = usePaged<Passage>((cursor) => api.page(`${pathOf(id)}/passages`, "passages", { q, cursor }), [id, q]);
  return (
    <Section title="Passages" lead="The bot searches these pieces of text, and answers from the best ones.">
      <FilterBar>
        <FilterSearch label="Search passages" value={q} set={setQ} />
      </FilterBar>
      <Loaded of={list}>
        {(passages) =>
          passages.length === 0 ? (
            <Empty title={q === "" ? "No passages yet" : "No passage contains this"}>
              <p>{q === "" ? "They appear when the document was read." : "Try other words."}</p>
            </Empty>
          ) : (
            <ol class="passages">
              {passages.map(({ id: key, title, text }) => (
                <li key={key} class="box passage">
                  <h3 dir="auto">{title}</h3>
                  <p dir="auto">{text}</p>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <ShowMore of={list} />
    </Section>
  );
}
