import { hash } from 'node:crypto'
import { type Collection, type CollectionSpec, type State, canonical } from '../../../core/plugin.js'
import { sessionErrors, type PersonaSource } from '../../execution/sessions/contract.js'
import { Persona } from './contract.js'
import { draftOf, type PersonaDraft, type PersonaRequest } from './draft.js'
import { personaErrors } from './errors.js'

const personaCollection: CollectionSpec<Persona> = {
  name: 'personas',
  version: 2,
  id: ({ persona_id }) => persona_id,
  indexes: { all: { group: () => 'all' } },
  settled: () => true,
  schema: Persona,
}

export interface PersonaStore extends PersonaSource {
  readonly collection: Collection<Persona>
  get(persona_id: string): Persona
  create(persona_id: string, asked: PersonaRequest): Promise<Persona>
  /** A request that changes nothing leaves version and time as they are. */
  replace(persona_id: string, asked: PersonaRequest): Promise<Persona>
}

export const createPersonas = (state: State): PersonaStore => {
  const collection = state.collection(personaCollection)
  const get = (persona_id: string): Persona => {
    const persona = collection.find(persona_id)
    if (persona === undefined) throw sessionErrors.persona_not_found({ details: { persona_id } })
    return persona
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
        tx.insert(collection, persona)
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
        tx.put(collection, persona)
        return persona
      }),
    snapshot(persona_id) {
      const { display_name, soul, capability_scope, version } = get(persona_id)
      return {
        persona_id,
        persona_version: version,
        display_name,
        soul,
        soul_sha256: hash('sha256', soul),
        ...(capability_scope !== undefined && { capability_scope }),
      }
    },
  }
}

const settable = ({ display_name, soul, capability_scope, default_skills, metadata }: Persona): PersonaDraft => ({
  display_name,
  soul,
  ...(capability_scope !== undefined && { capability_scope }),
  ...(default_skills !== undefined && { default_skills }),
  ...(metadata !== undefined && { metadata }),
})
