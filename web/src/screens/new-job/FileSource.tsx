import { type FormEvent, useState } from "react";
import { type Preview, Problem, useAbout } from "../../api";
import { Button, bytes, ErrorState, Field, grouped, Loading, Tabs } from "../../design";
import { DropZone } from "./DropZone";
import { EncodingNotice } from "./EncodingNotice";
import styles from "./FileSource.module.css";
import type { Draft } from "./model";
import type { Change } from "./NewJobScreen";
import { PreviewTable } from "./PreviewTable";
import { ReadingOptions } from "./ReadingOptions";

interface PreviewState {
  data: Preview | undefined;
  error: Error | null;
  isFetching: boolean;
  refetch: () => unknown;
}

const SOURCES = [
  { id: "file", label: "Upload" },
  { id: "source", label: "From a URL" },
];

/** Names and keys belong to the columns of the previous file. */
const NOTHING_READ: Partial<Draft> = { files: [], source: "", read: {}, names: {}, key: [] };

/** The source of the rows, and a preview. */
export function FileSource({
  draft,
  preview,
  onChange,
}: {
  draft: Draft;
  preview: PreviewState;
  onChange: Change;
}) {
  const [way, setWay] = useState("file");
  const misread = misreadIn(preview);
  const take = (part: Partial<Draft>) => onChange({ ...NOTHING_READ, ...part });
  return (
    <>
      <Tabs
        label="Source of the rows"
        tabs={SOURCES}
        open={way}
        onOpen={(next) => {
          setWay(next);
          take({});
        }}
      >
        {way === "file" ? (
          <ChosenFiles files={draft.files} onFiles={(files) => take({ files })} />
        ) : (
          <SourceField onSource={(source) => take({ source })} />
        )}
      </Tabs>
      {(preview.data || preview.error) && (
        <ReadingOptions
          key={`${draft.source}${draft.files[0]?.name}`}
          read={draft.read}
          sheets={preview.data?.sheets ?? []}
          onRead={(read) => onChange({ read, names: {}, key: [] })}
        />
      )}
      {misread && !preview.isFetching && (
        <EncodingNotice
          fits={misread.fits}
          read={draft.read}
          onRead={(read) => onChange({ read, names: {}, key: [] })}
        />
      )}
      {preview.isFetching && <Loading lines={4} label="Reading first rows" />}
      {preview.error && !misread && !preview.isFetching && (
        <ErrorState error={preview.error} retry={() => void preview.refetch()} />
      )}
      {preview.data && !preview.isFetching && (
        <PreviewTable preview={preview.data} names={draft.names} />
      )}
    </>
  );
}

/** The encoding that fits, if the file was read in the wrong one. */
function misreadIn({ data, error }: PreviewState): { fits: string | null } | null {
  if (data?.misread) return { fits: data.encoding };
  const fits = error instanceof Problem ? error.encoding : undefined;
  return fits === undefined ? null : { fits };
}

function ChosenFiles({
  files,
  onFiles,
}: {
  files: readonly File[];
  onFiles: (files: readonly File[]) => void;
}) {
  const limit = (useAbout()?.uploadMb ?? Number.POSITIVE_INFINITY) * 1_048_576;
  const [first] = files;
  if (!first) return <DropZone onFiles={onFiles} />;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return (
    <>
      <p className={styles.chosen}>
        <strong>{files.length > 1 ? `${grouped(files.length)} files` : first.name}</strong>
        <span className={styles.size}>{bytes(size)}</span>
        <Button onClick={() => onFiles([])}>Choose another file</Button>
      </p>
      {size > limit && (
        <p role="alert" className={styles.problem}>
          Uploads can have at most {bytes(limit)}. Split the file, or let the server fetch it from a
          URL.
        </p>
      )}
    </>
  );
}

function SourceField({ onSource }: { onSource: (source: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSource(String(new FormData(event.currentTarget).get("source") ?? "").trim());
  };
  return (
    <form onSubmit={submit} className={styles.source}>
      <Field
        label="URL of the file"
        name="source"
        placeholder="s3://bucket/products.csv"
        hint="https:, s3:, ftp:, sftp:, or file: on the server. The server fetches the file with the credentials in its settings."
        required
        spellCheck={false}
        autoComplete="off"
      />
      <Button type="submit" icon="search">
        Preview rows
      </Button>
    </form>
  );
}
