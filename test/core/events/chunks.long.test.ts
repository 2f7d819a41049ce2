/** All of what the short suite takes a sample of. */
import './chunks.test.js'
