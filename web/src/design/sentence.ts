/** Starts with the name of a file, a host or a setting, whose case is kept. */
const NAMED = /^(?:\S*[._/\\:@\d][^\s:;,]|[^.:;]{1,250}\.[a-z0-9]{2,7}\b\s)/i;

/** Text as a sentence: starts with a capital, unless with a name, and ends with a full stop. */
export function sentence(text: string): string {
  const begun = NAMED.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
