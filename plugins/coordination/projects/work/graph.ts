/** Whether a task would wait for itself. Pure. */

/** What each task is blocked by. */
export type BlockedBy = (id: string) => readonly string[]

/**
 * Of the tasks that a task is to be blocked by, the first that waits for the task itself, through whatever others;
 * undefined if none does. Each task is looked at once.
 */
export const waitsFor = (id: string, wanted: readonly string[], blockedBy: BlockedBy): string | undefined => {
  const seen = new Set<string>()
  return wanted.find((first) => {
    const open = [first]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === id) return true
      if (seen.has(next)) continue
      seen.add(next)
      for (const behind of blockedBy(next)) if (!seen.has(behind)) open.push(behind)
    }
    return false
  })
}
