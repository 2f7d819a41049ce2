/** All of what the short suite takes a sample of. */
import './chat-command.test.js'
