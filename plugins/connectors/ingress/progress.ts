/** What deliveries of several steps have done; it goes when the delivery is settled. */
import { assert, type Collection, type JsonObject, type State } from '../../../core/plugin.js'
import type { DeliveryObserver, Outbox } from '../../execution/deliveries/contract.js'
import type { DeliveryProgress } from '../registry/contract.js'

type ProgressRecord = { readonly delivery_id: string; readonly progress: JsonObject; readonly at: number }

/** Steps of one delivery; what a platform answers to one of them is a few ids. */
const mostBytes = 262_144

export interface ProgressStore {
  readonly state: State
  readonly progress: Collection<ProgressRecord>
}

export const declareProgress = (state: State): ProgressStore => ({
  state,
  progress: state.collection<ProgressRecord>({
    name: 'delivery_progress',
    version: 1,
    id: ({ delivery_id }) => delivery_id,
    indexes: { all: { group: () => 'all' } },
    removed: 'forgotten',
    references: ({ delivery_id }) => [{ collection: 'deliveries', id: delivery_id }],
  }),
})

export const createProgress = (
  { state, progress }: ProgressStore,
  outbox: Pick<Outbox, 'isOpen'>,
): DeliveryProgress => ({
  read: (delivery_id) => progress.find(delivery_id)?.progress,
  write: (delivery_id, done) =>
    state.commit((tx) => {
      assert(Buffer.byteLength(JSON.stringify(done)) <= mostBytes, 'the progress of a delivery is a few ids a step')
      // An attempt that was given up may still tell what it did.
      if (outbox.isOpen(delivery_id)) tx.put(progress, { delivery_id, progress: done, at: tx.now })
    }),
})

/** Forgets it in the commit that settles the delivery. */
export const forgetSettled = ({ progress }: ProgressStore): DeliveryObserver => ({
  id: 'connector-ingress',
  settled(tx, deliveries) {
    for (const { delivery_id } of deliveries) tx.remove(progress, delivery_id, 'settled')
  },
})
