import { Host, definePlugin, doc, inTurns, nonceBytes, object, optional, string } from '../../../core/plugin.js'
import { accountRoutes } from './account-routes.js'
import { AccountRefreshers, SealKeepers, SecretReferences, SecretSeal, SecretSlots } from './contract.js'
import { keyWarnings } from './key-warnings.js'
import { secretRoutes } from './routes.js'
import { createService } from './service.js'
import { createKeys } from './slots/keys.js'
import { createLasting } from './slots/lasting.js'
import { createSeal } from './slots/seal.js'
import { createSlots } from './slots/store.js'
import { createVault } from './slots/vault.js'

const config = object({
  secrets_key: doc(
    optional(string()),
    'Key that secrets are encrypted with: 32 bytes in hex or base64. It beats secrets_key_file.',
  ),
  secrets_key_file: doc(
    optional(string()),
    'File that holds the key, which nobody but its owner may read. Without both, the daemon makes a key of its own.',
  ),
  secrets_previous_key_file: doc(
    optional(string()),
    'File that holds an earlier key: what it encrypted is encrypted anew at the start.',
  ),
})

export default definePlugin({
  id: 'secrets',
  version: '1.0.0',
  api: 1,
  summary: 'Secrets that are stored encrypted, and who uses them.',
  needs: { host: Host },
  provides: [SecretSlots, SecretSeal],
  config,
  flags: {
    secrets_key: 'secrets-key',
    secrets_key_file: 'secrets-key-file',
    secrets_previous_key_file: 'secrets-previous-key-file',
  },
  register(ctx, { host }) {
    const { clock, ids, secrets, state, log } = ctx
    const [references, keepers] = [ctx.view(SecretReferences), ctx.view(SealKeepers)]
    const keys = createKeys({ config: ctx.config, secrets, ids })
    const lasting = createLasting({ state, keys, newNonce: () => ids.random(nonceBytes), log })
    const vault = createVault({ keys, secrets, clock, ids })
    const slots = createSlots({
      state,
      keys,
      vault,
      users: references,
      observers: ctx.observers(SecretReferences),
    })
    const service = createService({
      state,
      keys,
      vault,
      slots,
      lasting,
      keepers,
      clock,
      refreshers: ctx.view(AccountRefreshers),
    })
    ctx.provide(SecretSlots, service.slots)
    ctx.provide(SecretSeal, createSeal({ keys, ids, lasting }))
    ctx.contribute(SealKeepers, { id: 'secrets', has: lasting.has, sealAnew: lasting.sealAnew })
    ctx.routes(...secretRoutes(service.routes), ...accountRoutes(service.routes))
    const isFresh = () => slots.collection.count('all', 'all') === 0 && !keepers().some((keeper) => keeper.has())
    const warnings = () =>
      keyWarnings({ keys, slots: slots.collection, lasting: lasting.collection, root: host.stateRoot, isFresh })
    ctx.health({ id: 'secrets-key', check: warnings })
    ctx.onStart(async () => {
      await keys.open(isFresh())
      // Before another plugin starts: what they hear and say may hold any of them.
      await inTurns(slots.learn())
      for (const { message, code } of warnings()) log.warn(message, { code })
      await service.settle().catch((error: unknown) => log.warn('secrets could not be encrypted anew', { error }))
    })
  },
})
