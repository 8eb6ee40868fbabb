/* A DLL of which only its resources are looked at. */
int enginehost_empty(void);
int enginehost_empty(void) { return 0; }
