// Chart is not exported here: it loads a library, so screens import "../../design/Chart".
export { Badge, JobBadge, StatusBadge } from "./Badge";
export { Button, type ButtonProps } from "./Button";
export { Command, CopyButton } from "./Command";
export { type Column, DataGrid } from "./DataGrid";
export { Confirm, Dialog } from "./Dialog";
export { Drawer } from "./Drawer";
export { Fact, Facts } from "./Facts";
export { Checkbox, Field, Labelled, Select, TextArea } from "./Field";
export {
  bytes,
  classes,
  counted,
  duration,
  grouped,
  inLine,
  partsOf,
  percent,
  perSecond,
  sentence,
} from "./format";
export { useNow, usePhone } from "./hooks";
export { Icon, type IconName } from "./Icon";
export { Key } from "./Key";
export { useKey } from "./keyboard";
export { Menu, type MenuItem } from "./Menu";
export { inWords, ProgressBar } from "./ProgressBar";
export { Panel, Screen, Toolbar } from "./Screen";
export { SearchField } from "./SearchField";
export { SelectionBar } from "./SelectionBar";
export { EmptyState, ErrorState, Loading, Skeleton } from "./States";
export { type Selection, useSelection } from "./selection";
export { jobStyle, statusStyle, type Tone, toneStyle } from "./status";
export { type Tab, Tabs } from "./Tabs";
export { Age, Ago, Time } from "./Time";
export { ToastProvider, useToasts } from "./Toast";
