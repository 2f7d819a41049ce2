/** Souls by digest, each kept once: a persona and the sessions that are bound to it name the same text. */
import { hash } from 'node:crypto'
import { fault, object, string, type CollectionSpec, type State, type Tx } from '../../../core/plugin.js'

type SoulRecord = { readonly sha256: string; readonly text: string }

const soulCollection: CollectionSpec<SoulRecord> = {
  name: 'souls',
  version: 1,
  id: ({ sha256 }) => sha256,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
  schema: object({ sha256: string(), text: string() }),
}

export interface Souls {
  /** The text of a digest that a record names. */
  text(sha256: string): string
  /** Keeps a text in the commit of a record that names it; returns its digest. */
  keep(tx: Tx, text: string): string
  /** A record of this commit named the text until now: it goes unless another one does. */
  letGo(tx: Tx, sha256: string): void
}

export const declareSouls = (state: State, isNamed: (sha256: string) => boolean): Souls => {
  const souls = state.collection(soulCollection)
  return {
    text(sha256) {
      const soul = souls.find(sha256)
      if (soul === undefined) throw fault(`the soul ${sha256} is named and not kept`)
      return soul.text
    },
    keep(tx, text) {
      const sha256 = hash('sha256', text)
      if (!souls.has(sha256)) tx.insert(souls, { sha256, text })
      return sha256
    },
    letGo(tx, sha256) {
      if (!isNamed(sha256)) tx.remove(souls, sha256, 'nobody names it')
    },
  }
}
