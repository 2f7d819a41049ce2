/** The flags of the programs of the bench: `--name value`. */

export const valueOf = (flag: string): string | undefined => {
  const at = process.argv.indexOf(flag)
  return at === -1 ? undefined : process.argv[at + 1]
}

/** A whole number of at least 1; ends the program with what is wrong otherwise. */
export const numberOf = (flag: string): number | undefined => {
  const text = valueOf(flag)
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  process.stderr.write(`${flag} takes a whole number of at least 1, not ${text}\n`)
  process.exit(2)
}
