/** An index on disk is made again when the version of its collection rises: so it rises with what the indexes say. */
import test from 'ava'
import { createHash } from 'node:crypto'
import { declarationsOf, shippedPlugins } from '../../core/shipped.js'

/** The text of what says where a record belongs, by collection and version. */
const known: Readonly<Record<string, string>> = {
  'agent_audit 1': '4ad86433099863aa',
  'agents 2': 'a3330fc6fdb1baba',
  'asset_sources 1': '1999138dc02d1819',
  'asset_totals 1': 'efbf355109c8cd06',
  'assets 2': '7a9c741a85ce000a',
  'auth_leases 1': '29ce82c0de763664',
  'auth_subjects 1': '3cfea001a09dd2aa',
  'board_assets 1': '55fb377ea4b8264b',
  'board_revisions 1': 'd81f8de3a6dc08c1',
  'boards 1': '78fbd8d2bca4bd6f',
  'capture_agents 1': 'cd397855a2c358be',
  'capture_leases 1': '4f011a3f8a130ce0',
  'capture_provisions 1': '6ed3ce2f80281f65',
  'channel_assets 1': '9826763585322ab5',
  'channel_calls 1': '3de50fdb556ca73f',
  'channel_members 1': 'de67879beba61a74',
  'channel_messages 1': '3b79d848e6b99e8d',
  'channel_reactions 1': 'ef2720788659344d',
  'channel_removals 1': '0ec3e7376e678981',
  'channels 1': 'af6269e1b4ccd92d',
  'clarifications 1': '4ffe2ff81558ee46',
  'connector_events 2': '8f7e3cc7bcfa4c5c',
  'control_plane_refusals 1': '15c09544b1cfc39a',
  'connectors 1': '2b2f8ed7d0c46700',
  'debug_runs 1': 'b8719289023d0669',
  'default_skills 1': 'e139ae07d7ae1050',
  'deliveries 1': '4f9205c411a79a4d',
  'delivery_files 2': '04a923877bb2ffe0',
  'delivery_progress 1': '2b2f8ed7d0c46700',
  'derivations 2': 'e5d2792851e795c7',
  'external_action_heads 1': '3cfea001a09dd2aa',
  'external_action_runs 2': '60918c1084c8a9ba',
  'flows 1': '28f610dc79ecaff0',
  'grants 1': '0d50d0252ec3ac88',
  'hook_calls 1': '2b2f8ed7d0c46700',
  'hook_dead_letters 1': '1716de0f0d30d461',
  'lasting_keys 1': 'd3b6a0d9069e63f8',
  'live_asks 1': '5f45f25137fac75b',
  'live_drafts 1': '4f83eb2b774eb9f7',
  'mailbox_files 1': '55fb377ea4b8264b',
  'mailbox_messages 1': 'a7dffcd55477e999',
  'mcp_calls 1': '2b2f8ed7d0c46700',
  'mcp_oauth_marks 1': '2b2f8ed7d0c46700',
  'model_holds 1': '3cfea001a09dd2aa',
  'observation_audit 1': '8fd1d54dd26de7fd',
  'observation_sources 1': '3042d41d7db36c6e',
  'observations 2': '0c1a9721c9d75de5',
  'output_files 2': 'ffe196e91aec16bf',
  'personas 2': '6978a7828fba0206',
  'playbook_manifests 1': '3cfea001a09dd2aa',
  'playbooks 1': 'e139ae07d7ae1050',
  'project_links 1': '33ddf6df3a8835ed',
  'project_members 1': '6de4c20f29167609',
  'project_tasks 1': 'c6e6a260e8132d0b',
  'projects 1': 'c6fd089dcbabdf99',
  'receipts 1': '3cfea001a09dd2aa',
  'run_files 2': '77271a1403cf9a0c',
  'run_memories 1': 'b1c26bd83da3f229',
  'run_memory_marks 1': 'efbf355109c8cd06',
  'runs 1': 'c46df9861bb5cf39',
  'runtime_revisions 1': '5b1cd13dda78de79',
  'schedule_files 2': '9ae6d4419fb30d88',
  'schedule_histories 3': 'e139ae07d7ae1050',
  'schedules 2': 'e6737bfc779c7818',
  'secret_slots 1': '7ec871818403ee4c',
  'session_bindings 1': '3cfea001a09dd2aa',
  'session_control_states 1': '7f12f59175c46616',
  'session_goals 1': '542a479512aac179',
  'session_permissions 1': '3cfea001a09dd2aa',
  'session_skills 1': '3cfea001a09dd2aa',
  'sessions 5': '9c1f5782cb34e471',
  'souls 1': '3cfea001a09dd2aa',
  'tasks 2': 'd5c7360c1a309d33',
  'telegram_cursors 1': '2b2f8ed7d0c46700',
  'thread_starts 2': '3cfea001a09dd2aa',
  'todos 2': '3cfea001a09dd2aa',
  'turn_leases 1': '93df6bdf317b1d80',
  'usage_days 2': '2b2f8ed7d0c46700',
  'usage_sessions 1': 'dbee734867f9ac37',
  'worktrees 1': '76d38af5f4355ff6',
}

test('whoever changes settled, group or sort of a collection raises its version', async (t) => {
  const { collections } = await declarationsOf(await shippedPlugins())
  const found = Array.from(collections.values(), ({ name, version, settled, indexes }): [string, string] => {
    const texts = Object.entries(indexes).map(([index, { group, sort }]) => [index, String(group), String(sort)])
    const digest = createHash('sha256')
      .update(JSON.stringify([String(settled), texts]))
      .digest('hex')
    return [`${name} ${version}`, digest.slice(0, 16)]
  })
  t.deepEqual(Object.fromEntries(found.toSorted()), known, 'raise the version, then write down the new digest')
})
