/** Begins with the name of a file, a host or a setting, which is written as it is written. */
const NAMED = /^(?:\S*[._/\\:@\d][^\s:;,]|[^.:;]{1,250}\.[a-z0-9]{2,7}\b\s)/i;

/** Text as a sentence: it begins large, unless with a name, and ends with a stop. */
export function sentence(text: string): string {
  const begun = NAMED.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
