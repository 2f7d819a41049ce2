import { type Collection, type CollectionSpec, type State, type Tx, canonical } from '../../../core/plugin.js'
import { sessionErrors, type PersonaSource } from '../../execution/sessions/contract.js'
import type { Persona } from './contract.js'
import { draftOf, type PersonaDraft, type PersonaRequest } from './draft.js'
import { personaErrors } from './errors.js'
import { StoredPersona } from './record.js'
import { declareSouls } from './souls.js'

const personaCollection: CollectionSpec<StoredPersona> = {
  name: 'personas',
  version: 2,
  id: ({ persona_id }) => persona_id,
  indexes: { all: { group: () => 'all' }, soul: { group: ({ soul_sha256 }) => soul_sha256 } },
  settled: () => true,
  schema: StoredPersona,
  references: ({ soul_sha256 }) => (soul_sha256 === undefined ? [] : [{ collection: 'souls', id: soul_sha256 }]),
}

export interface PersonaStore extends PersonaSource {
  readonly collection: Collection<StoredPersona>
  get(persona_id: string): Persona
  create(persona_id: string, asked: PersonaRequest): Promise<Persona>
  /** A request that changes nothing leaves version and time as they are. */
  replace(persona_id: string, asked: PersonaRequest): Promise<Persona>
}

/** `namesSoul` says whether a session does. */
export const createPersonas = (state: State, namesSoul: (sha256: string) => boolean): PersonaStore => {
  const collection = state.collection(personaCollection)
  const souls = declareSouls(state, (sha256) => collection.count('soul', sha256) > 0 || namesSoul(sha256))
  const find = (persona_id: string): StoredPersona => {
    const persona = collection.find(persona_id)
    if (persona === undefined) throw sessionErrors.persona_not_found({ details: { persona_id } })
    return persona
  }
  const soulOf = ({ soul, soul_sha256 = '' }: StoredPersona): string => soul ?? souls.text(soul_sha256)
  const get = (persona_id: string): Persona => {
    const stored = find(persona_id)
    const { display_name, version, created_at_ms, updated_at_ms } = stored
    return {
      persona_id,
      display_name,
      soul: soulOf(stored),
      ...extrasOf(stored),
      version,
      created_at_ms,
      updated_at_ms,
    }
  }
  /** Returns the record. */
  const put = (tx: Tx, { soul, ...persona }: Persona): StoredPersona => {
    const before = collection.find(persona.persona_id)?.soul_sha256
    const stored: StoredPersona = { ...persona, soul_sha256: souls.keep(tx, soul) }
    tx.put(collection, stored)
    if (before !== undefined && before !== stored.soul_sha256) souls.letGo(tx, before)
    return stored
  }
  return {
    collection,
    get,
    create: (persona_id, asked) =>
      state.commit((tx) => {
        if (collection.has(persona_id)) throw personaErrors.persona_already_exists({ details: { persona_id } })
        const persona: Persona = {
          persona_id,
          ...draftOf(undefined, asked),
          version: 1,
          created_at_ms: tx.now,
          updated_at_ms: tx.now,
        }
        put(tx, persona)
        return persona
      }),
    replace: (persona_id, asked) =>
      state.commit((tx) => {
        const before = get(persona_id)
        const draft = draftOf(settable(before), asked)
        if (canonical(draft) === canonical(settable(before))) return before
        const persona: Persona = {
          persona_id,
          ...draft,
          version: before.version + 1,
          created_at_ms: before.created_at_ms,
          updated_at_ms: Math.max(tx.now, before.updated_at_ms),
        }
        put(tx, persona)
        return persona
      }),
    freeze(tx, persona_id) {
      const stored = find(persona_id)
      const { soul_sha256 = '' } = stored.soul_sha256 === undefined ? put(tx, get(persona_id)) : stored
      const { display_name, capability_scope, version } = stored
      return {
        persona_id,
        persona_version: version,
        display_name,
        soul_sha256,
        ...(capability_scope !== undefined && { capability_scope }),
      }
    },
    soul: souls.text,
    keepSoul: (tx, text) => void souls.keep(tx, text),
    letSoulGo: souls.letGo,
  }
}

type Extras = Pick<PersonaDraft, 'capability_scope' | 'default_skills' | 'metadata'>
const extrasOf = ({ capability_scope, default_skills, metadata }: Pick<StoredPersona, keyof Extras>): Extras => ({
  ...(capability_scope !== undefined && { capability_scope }),
  ...(default_skills !== undefined && { default_skills }),
  ...(metadata !== undefined && { metadata }),
})

const settable = (persona: Persona): PersonaDraft => ({
  display_name: persona.display_name,
  soul: persona.soul,
  ...extrasOf(persona),
})
