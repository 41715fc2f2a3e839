import type { Token } from "../../api";
import { Ago, Button, type Column } from "../../design";

const KINDS: Record<Token["kind"], string> = {
  api: "token",
  login: "browser login",
  link: "login link",
};

export function tokenColumns(isAdmin: boolean, onRevoke: (token: Token) => void): Column<Token>[] {
  return [
    { id: "label", header: "Token", width: 120, grow: 3, phone: true, cell: label },
    ...(isAdmin
      ? [{ id: "user", header: "Owner", width: 90, grow: 1, cell: ({ user }: Token) => user }]
      : []),
    { id: "kind", header: "Kind", width: 110, grow: 1, cell: ({ kind }) => KINDS[kind] },
    { id: "role", header: "Role", width: 72, grow: 0, cell: ({ role }) => role },
    {
      id: "used",
      header: "Last used",
      width: 100,
      grow: 1,
      phone: true,
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago at={lastUsedAt} /> : "never"),
    },
    {
      id: "expires",
      header: "Expires",
      width: 100,
      grow: 1,
      cell: ({ expiresAt }) => (expiresAt ? <Ago at={expiresAt} /> : "never"),
    },
    {
      id: "revoke",
      header: "Actions",
      hideHeader: true,
      width: 116,
      grow: 0,
      align: "end",
      phone: true,
      cell: (token) => (
        <Button
          variant="quiet"
          icon="cross"
          aria-label={`Revoke ${token.label || token.id}`}
          onClick={() => onRevoke(token)}
        >
          Revoke…
        </Button>
      ),
    },
  ];
}

function label({ label: text, id, kind }: Token) {
  return <span title={id}>{text || (kind === "api" ? id : KINDS[kind])}</span>;
}
