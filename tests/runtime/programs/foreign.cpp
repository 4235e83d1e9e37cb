// A shared library that is no model.
extern "C" int aotc_test_foreign() { return 1; }
