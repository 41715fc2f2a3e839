import { useState } from "react";
import type { Handler } from "../../api";
import { Checkbox, Field, Select, sentence, TextArea } from "../../design";
import styles from "./Details.module.css";
import type { Change } from "./NewJobScreen";
import { limitsOf, parsed, problemIn, type Setting, settingsOf, withSetting } from "./settings";

type Config = Readonly<Record<string, unknown>>;

/** The configuration of a handler: fields from its schema, or else JSON. */
export function ConfigFields({
  handler,
  config,
  onChange,
}: {
  handler: Handler;
  config: Config;
  onChange: Change;
}) {
  const settings = settingsOf(handler.configSchema);
  if (!settings) return <JsonConfig onChange={onChange} />;
  return (
    <div className={styles.fields}>
      {settings.map((setting) => (
        <SettingField
          key={setting.name}
          setting={setting}
          value={config[setting.name]}
          onValue={(value, configProblem = "") =>
            onChange({ config: withSetting(config, setting.name, value), configProblem })
          }
        />
      ))}
    </div>
  );
}

function JsonConfig({ onChange }: { onChange: Change }) {
  const hint = 'What the handler finds as its configuration, as JSON: {"service": "shop.test"}';
  const take = (value: unknown, problem: string) => {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (problem || (value !== undefined && !isObject)) {
      onChange({ configProblem: problem || "Enter a JSON object: {…}" });
    } else onChange({ config: (value ?? {}) as Config, configProblem: "" });
  };
  return (
    <details className={styles.details}>
      <summary>Handler configuration</summary>
      <JsonField label="Configuration" hint={hint} onValue={take} />
    </details>
  );
}

function SettingField({
  setting,
  value,
  onValue,
}: {
  setting: Setting;
  value: unknown;
  onValue: (value: unknown, problem?: string) => void;
}) {
  const { label, about, required, standard } = setting;
  const usual = standard === undefined ? "" : `Default: ${JSON.stringify(standard)}.`;
  const hint = [about, limitsOf(setting), usual].filter(Boolean).join(" ");
  const problem = problemIn(setting, value);
  switch (setting.kind) {
    case "switch":
      return (
        <Checkbox
          label={label}
          hint={hint}
          checked={(value ?? standard) === true}
          onChange={(event) => onValue(event.target.checked)}
        />
      );
    case "choice":
      return (
        <Select
          label={label}
          hint={hint}
          options={[
            { value: "", label: standard === undefined ? "–" : `${String(standard)} (default)` },
            ...setting.choices.map((each) => ({ value: each, label: each })),
          ]}
          value={String(value ?? "")}
          onChoose={onValue}
        />
      );
    case "json":
      return <JsonField label={`${label} (JSON)`} hint={hint} onValue={onValue} />;
    default:
      return (
        <Field
          label={label}
          hint={hint}
          required={required}
          problem={problem ? sentence(problem) : undefined}
          type={setting.kind}
          step={setting.isWhole ? 1 : "any"}
          {...(setting.kind === "number" ? { min: setting.min, max: setting.max } : {})}
          autoComplete={setting.kind === "password" ? "new-password" : "off"}
          value={String(value ?? "")}
          onChange={({ target }) => {
            const isNumber = setting.kind === "number" && target.value !== "";
            onValue(isNumber ? Number(target.value) : target.value);
          }}
        />
      );
  }
}

function JsonField({
  label,
  hint,
  onValue,
}: {
  label: string;
  hint: string;
  onValue: (value: unknown, problem: string) => void;
}) {
  const [written, setWritten] = useState("");
  const { problem } = parsed(written);
  return (
    <TextArea
      label={label}
      hint={hint}
      problem={problem || undefined}
      rows={5}
      spellCheck={false}
      value={written}
      onChange={({ target }) => {
        setWritten(target.value);
        const read = parsed(target.value);
        onValue(read.value, read.problem);
      }}
    />
  );
}
