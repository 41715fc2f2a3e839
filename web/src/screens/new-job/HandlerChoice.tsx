import type { Handler } from "../../api";
import { Badge, EmptyState, Select } from "../../design";
import { ConfigFields } from "./ConfigFields";
import styles from "./HandlerChoice.module.css";
import type { Draft } from "./model";
import type { Change } from "./NewJobScreen";

export function HandlerChoice({
  draft,
  handlers,
  handler,
  onChoose,
  onChange,
}: {
  draft: Draft;
  handlers: readonly Handler[];
  handler: Handler | undefined;
  onChoose: (name: string) => void;
  onChange: Change;
}) {
  if (handlers.length === 0) {
    return (
      <EmptyState title="This server has no handlers">
        <p>Start it with `headgate serve --handlers FILE`, where FILE contains your functions.</p>
      </EmptyState>
    );
  }
  const options = [
    { value: "", label: "Choose a handler" },
    ...handlers.map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <>
      <div className={styles.choice}>
        <Select
          label="Handler"
          options={options}
          value={handler ? draft.handler : ""}
          onChoose={onChoose}
        />
      </div>
      {handler && <About handler={handler} />}
      {handler && (
        <ConfigFields
          key={handler.name}
          handler={handler}
          config={draft.config}
          onChange={onChange}
        />
      )}
    </>
  );
}

function About({ handler }: { handler: Handler }) {
  return (
    <div className={styles.about}>
      <p>{handler.about || "No description."}</p>
      <ul className={styles.facts}>
        {handler.needs.map((need) => (
          <li key={need}>
            <Badge tone="processing">Requires: {need}</Badge>
          </li>
        ))}
        {handler.provider && (
          <li>
            <Badge tone="pending" icon="gate">
              Provider: {handler.provider}
            </Badge>
          </li>
        )}
        {handler.pack && (
          <li>
            <Badge tone="pending">Up to {handler.pack} rows at once</Badge>
          </li>
        )}
        {handler.strategies.length > 0 && (
          <li>
            <Badge tone="pending">Strategies: {handler.strategies.join(", then ")}</Badge>
          </li>
        )}
      </ul>
    </div>
  );
}
