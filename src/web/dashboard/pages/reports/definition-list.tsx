/** The definitions of the numbers of a table or chart. */
export const DefinitionList = (props: {
  readonly of: readonly { readonly label: string; readonly about: string }[];
  readonly more?: string;
}) => (
  <details class="definition">
    <summary>Definitions</summary>
    <dl>
      {props.of.map(({ label, about }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
    {props.more !== undefined && <p>{props.more}</p>}
  </details>
);
