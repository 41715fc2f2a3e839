import { countOf, ITEM_STATUSES, type ItemStatus, type Job } from "../../api";
import { grouped, Icon, statusStyle, toneStyle } from "../../design";
import styles from "./Counters.module.css";

/** Number of items by status; each opens the grid with that filter. */
export function Counters({
  job,
  chosen,
  onChoose,
}: {
  job: Job;
  /**
   * Statuses that the grid shows, separated by commas; undefined: all; null: the grid is not open.
   */
  chosen: string | undefined | null;
  onChoose: (statuses: string | undefined) => void;
}) {
  const statuses = chosen?.split(",") ?? [];
  return (
    <div className={styles.counters} role="group" aria-label="Items by status">
      <Counter
        word="All"
        count={job.counts.total}
        isChosen={chosen === undefined}
        onClick={() => onChoose(undefined)}
      />
      {ITEM_STATUSES.filter((status) => countOf(job.counts, status) > 0).map((status) => (
        <Counter
          key={status}
          status={status}
          word={statusStyle(status).label}
          count={countOf(job.counts, status)}
          isChosen={statuses.includes(status)}
          onClick={() => onChoose(chosen === status ? undefined : status)}
        />
      ))}
    </div>
  );
}

function Counter({
  status,
  word,
  count,
  isChosen,
  onClick,
}: {
  status?: ItemStatus;
  word: string;
  count: number;
  isChosen: boolean;
  onClick: () => void;
}) {
  const style = status && statusStyle(status);
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={styles.counter}
      style={style && toneStyle(style.tone)}
      title={style?.help}
      onClick={onClick}
    >
      <span className={styles.word}>
        {style && <Icon name={style.icon} size={12} />}
        {word}
      </span>
      <span className={styles.count}>{grouped(count)}</span>
    </button>
  );
}
