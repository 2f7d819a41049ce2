/** The skills that are there now: looked for at the start, and again when a file changes. */
import { holdsText, searchText, sentence, type Log, type Warning } from '../../../core/plugin.js'
import type { MemorySource } from '../../execution/memory/contract.js'
import { discover, nothing, type Catalogue, type Skill } from './discovery.js'
import type { SkillRoot } from './roots.js'
import type { Rulings } from './rulings.js'

export interface LiveCatalogue extends MemorySource {
  readonly now: Catalogue
  /** False before it looked for the first time. */
  hasLooked(): boolean
  find(name: string): Skill | undefined
  /** By name; with a query those that have it in name, description or use. */
  list(query?: string): Skill[]
  /** Looks again; resolves when what it found counts. */
  look(): Promise<void>
  warnings(): Warning[]
}

/** Warnings of a health report. */
const mostShown = 10

interface CatalogueParts {
  readonly roots: () => readonly SkillRoot[]
  readonly rulings: Rulings
  readonly log: Log
}

export const createCatalogue = ({ roots, rulings, log }: CatalogueParts): LiveCatalogue => {
  let now = nothing
  let running: Promise<void> | undefined
  let isStale = false
  const lookOnce = async (): Promise<void> => {
    isStale = false
    const before = now
    now = await discover(roots(), before)
    const told = new Set(before.warnings.map(({ message }) => message))
    for (const { code, message } of now.warnings) if (!told.has(message)) log.warn(message, { code })
  }
  const lookUntilFresh = async (): Promise<void> => {
    try {
      do await lookOnce()
      while (isStale)
    } finally {
      running = undefined
    }
  }
  const list = (query?: string): Skill[] => {
    const text = searchText(query)
    return [...now.skills.values()].filter(({ summary: { name, description, when_to_use } }) =>
      holdsText(text, [name, description, when_to_use]),
    )
  }
  return {
    id: 'skills',
    get now() {
      return now
    },
    hasLooked: () => now !== nothing,
    find: (name) => now.skills.get(name),
    list,
    skills: () =>
      list().flatMap((skill) => {
        const { summary, updated_at_ms } = skill
        const ruling = rulings.of(skill)
        if (ruling === undefined) return [{ summary, updated_at_ms }]
        return ruling.fault === undefined ? [{ summary, updated_at_ms, promoted: ruling.promoted }] : []
      }),
    look() {
      isStale = true
      return (running ??= lookUntilFresh())
    },
    warnings: () =>
      now.warnings.slice(0, mostShown).map(({ code, message, action }) => ({
        severity: 'warning',
        code,
        message: sentence(`Skills: ${message}`),
        action,
      })),
  }
}
