/* A DLL of which only the resources are read. */
int enginehost_empty(void);
int enginehost_empty(void) { return 0; }
