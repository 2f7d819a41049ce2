/** Which revisions of a board follow one another, from its first to its newest. Pure. */

/** A revision as far as its place goes, in the order of numbers; one that cannot be read is trusted. */
export interface Link {
  readonly revision_id: string
  readonly previous_revision_id?: string | undefined
  /** An earlier start has set it aside, for what it names. */
  readonly aside: boolean
  readonly unreadable?: boolean
}

/**
 * Ids of those that do not follow: behind a fork, a second beginning, a circle or a gap. Where one that is set aside
 * and one that is not follow the same, the latter does.
 */
export const misplaced = (links: readonly Link[]): Set<string> => {
  const followers = new Map<string | undefined, number>()
  for (const { previous_revision_id: previous, aside, unreadable } of links)
    if (!aside && unreadable !== true) followers.set(previous, (followers.get(previous) ?? 0) + 1)
  const found = new Set<string>()
  let last: string | undefined
  for (const { revision_id, previous_revision_id: previous, aside, unreadable = false } of links) {
    const rivals = (followers.get(previous) ?? 0) - (aside ? 0 : 1)
    if (unreadable || (previous === last && rivals === 0)) last = revision_id
    else found.add(revision_id)
  }
  return found
}
