/** How far each polling connector has come with the updates of its bot (telegram-21). */
import { hash } from 'node:crypto'
import { type Collection, type State } from '../../../../core/plugin.js'
import type { Bot } from '../bot/bot-api.js'

type CursorRecord = {
  readonly name: string
  /** Digest of where the updates come from: those of another bot are counted anew. */
  readonly source: string
  readonly next_update_id: number
}

export interface Cursors {
  next(name: string, source: string): number
  /** Resolves when it is on disk. */
  advance(name: string, source: string, next_update_id: number): Promise<void>
  /** Forgets those of connectors that are gone. */
  keepOnly(names: ReadonlySet<string>): Promise<void>
}

/** The bot, whatever its token is now, at its server. */
export const sourceOf = ({ base, token }: Bot): string => hash('sha256', `${base} ${token.split(':', 1).join('')}`)

export const declareCursors = (state: State): Cursors => {
  const cursors: Collection<CursorRecord> = state.collection<CursorRecord>({
    name: 'telegram_cursors',
    version: 1,
    id: ({ name }) => name,
    indexes: { all: { group: () => 'all' } },
    removed: 'forgotten',
    bounded: { telegram: 'one record for each polling connector' },
  })
  return {
    next(name, source) {
      const kept = cursors.find(name)
      return kept?.source === source ? kept.next_update_id : 0
    },
    advance: (name, source, next_update_id) => state.commit((tx) => tx.put(cursors, { name, source, next_update_id })),
    async keepOnly(names) {
      const gone = cursors.ids('all', 'all').filter((name) => !names.has(name))
      if (gone.length === 0) return
      await state.commit((tx) => gone.forEach((name) => tx.remove(cursors, name, 'connector_gone')))
    },
  }
}
